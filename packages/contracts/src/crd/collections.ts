import { z } from "zod";

type Keyed = z.ZodType<object>;

/** A list with one or more key fields, unique per item, by which server-side apply merges. Kubernetes' `listType: map`. */
export function keyedList<S extends Keyed>(
  item: S,
  keys: (keyof z.output<S> & string) | readonly (keyof z.output<S> & string)[],
  maxItems: number,
): z.ZodArray<S> {
  const names = typeof keys === "string" ? [keys] : keys;
  return z
    .array(item)
    .max(maxItems)
    .superRefine((items, context) => {
      const identity = (entry: z.output<S>): string => JSON.stringify(names.map((name) => entry[name]));
      rejectDuplicates(items, identity, context, `Duplicate ${names.join(" and ")}`);
    })
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": names });
}

/** A list of unique scalars. Kubernetes' `listType: set`. */
export function setList<S extends z.ZodType<string | number>>(item: S, maxItems: number): z.ZodArray<S> {
  return z
    .array(item)
    .max(maxItems)
    .superRefine((items, context) => {
      rejectDuplicates(items, (entry) => entry, context, "Duplicate value");
    })
    .meta({ "x-kubernetes-list-type": "set" });
}

/** A map with a maximum number of entries. */
export function mapOf<S extends z.ZodType>(value: S, maxProperties: number): z.ZodRecord<z.ZodString, S> {
  return z
    .record(z.string(), value)
    .superRefine((map, context) => {
      if (Object.keys(map).length <= maxProperties) return;
      context.addIssue({ code: "custom", message: `Too many: at most ${maxProperties}` });
    })
    .meta({ maxProperties });
}

function rejectDuplicates<T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  context: z.core.$RefinementCtx,
  message: string,
): void {
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    if (seen.has(key))
      context.addIssue({ code: "custom", message, path: [index], params: { fix: "remove one of them" } });
    seen.add(key);
  }
}
