import type { Manifest, RenderInput } from "../template.ts";
import type { Labels } from "./labels.ts";
import { ownerReference } from "./owner.ts";

interface Head {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** A complete child of this class: namespace, labels and owner reference in place, undefined members gone. */
export function manifest(input: RenderInput, head: Head, body: Readonly<Record<string, unknown>>): Manifest {
  const { apiVersion, kind, name, labels, annotations } = head;
  return withoutUndefined({
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: input.owner.namespace,
      labels,
      annotations: annotations === undefined || Object.keys(annotations).length === 0 ? undefined : annotations,
      ownerReferences: [ownerReference(input.owner)],
    },
    ...body,
  }) as Manifest;
}

/** A deep copy without members that are undefined, so that makers may write what is optional in place. */
export function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, withoutUndefined(member)]),
  );
}

/** Undefined in place of a list or map that is empty, for members that Kubernetes would rather not see. */
export function unlessEmpty<T extends object>(value: T | undefined): T | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
