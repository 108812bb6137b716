import type { z } from "zod";

/** The part of zod's schema definition that we use. */
interface Described {
  readonly _zod: { readonly def: Definition };
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly getter?: () => z.ZodType;
}

/** The fields of an object or the items of a list. */
interface Held {
  readonly members?: Readonly<Record<string, z.ZodType>>;
  readonly items?: z.ZodType;
}

/** The fields or items that a schema describes, through all wrappers. Read from the schema, without building JSON Schema. */
export function fieldsOf(schema: z.ZodType): Held {
  const {
    shape,
    element,
    innerType,
    in: before,
    out: after,
    options,
    getter,
  } = (schema as unknown as Described)._zod.def;
  if (shape !== undefined) return { members: shape };
  if (element !== undefined) return { items: element };
  const inside = [after, before, innerType, getter?.(), ...(options ?? [])].filter((each) => each !== undefined);
  return inside.map(fieldsOf).find(({ members, items }) => members !== undefined || items !== undefined) ?? {};
}
