import type { z } from "zod";

/** What we use of the description that a schema carries for tools. */
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

/** What a document holds: an object its members, a list its items, anything else neither. */
interface Held {
  readonly members?: Readonly<Record<string, z.ZodType>>;
  readonly items?: z.ZodType;
}

/** What a schema's documents hold, whatever is done to them before and after; told by the schema itself, so that no JSON schema has to be made. */
export function heldBy(schema: z.ZodType): Held {
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
  return inside.map(heldBy).find(({ members, items }) => members !== undefined || items !== undefined) ?? {};
}
