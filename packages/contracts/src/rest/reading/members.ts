import type { z } from "zod";

/** The part of zod's schema definition that we use. */
interface Described {
  readonly _zod: { readonly def: Definition };
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly getter?: () => z.ZodType;
}

/** The fields of an object, the items of a list or the values of a map. */
export interface Held {
  readonly members?: Readonly<Record<string, z.ZodType>>;
  readonly items?: z.ZodType;
  readonly values?: z.ZodType;
}

const known = new WeakMap<z.ZodType, Held>();

/** What a schema describes, through all wrappers. Read from the schema, without building JSON Schema. */
export function fieldsOf(schema: z.ZodType): Held {
  let held = known.get(schema);
  if (held === undefined) known.set(schema, (held = readFields(schema)));
  return held;
}

function readFields(schema: z.ZodType): Held {
  const {
    shape,
    element,
    valueType,
    innerType,
    in: before,
    out: after,
    options,
    getter,
  } = (schema as unknown as Described)._zod.def;
  if (shape !== undefined) return { members: shape };
  if (element !== undefined) return { items: element };
  if (valueType !== undefined) return { values: valueType };
  const inside = [after, before, innerType, getter?.(), ...(options ?? [])].filter((each) => each !== undefined);
  return inside.map(fieldsOf).find((each) => Object.keys(each).length > 0) ?? {};
}
