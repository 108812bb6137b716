import { z } from "zod";
import { rejectPrototype } from "./fields.ts";
import type { Codec } from "./resource.ts";
import { WireScalar } from "./wire-scalar.ts";

/** A value in the shape of Kubernetes, by a schema that the custom resources share. As there, null means absent. */
export function kubernetesValue<Value>(schema: z.ZodType<Value>): Codec<Value, z.ZodType<Value>> {
  const read = z.preprocess((value, context) => plainValue(value, context, []), schema);
  return { read, view: schema, write: (value) => value };
}

/** YAML scalars by their value: as in Kubernetes, a number is not a string. */
function plainValue(value: unknown, context: z.RefinementCtx, path: readonly (string | number)[]): unknown {
  if (value instanceof WireScalar) return value.value;
  if (Array.isArray(value)) return value.map((each, index) => plainValue(each, context, [...path, index]));
  if (typeof value !== "object" || value === null) return value;
  rejectPrototype(value, context, path);
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, plainValue(member, context, [...path, name])]));
}
