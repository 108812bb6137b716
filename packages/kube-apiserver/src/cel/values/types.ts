import type { StructuralSchema } from "../../schema/structural-schema.ts";

/** The types of expressions. `param` is a type parameter in a function's signature. */
export interface CelType {
  readonly name: string;
  readonly of?: readonly CelType[];
  /** The members of an object, by their names in expressions. */
  readonly fields?: ReadonlyMap<string, CelField>;
}

export interface CelField {
  /** The name in the document. */
  readonly property: string;
  readonly type: CelType;
  readonly schema: StructuralSchema;
}

const simple = (name: string): CelType => ({ name });

export const DYN = simple("dyn");
export const INT = simple("int");
export const UINT = simple("uint");
export const DOUBLE = simple("double");
export const STRING = simple("string");
export const BYTES = simple("bytes");
export const BOOL = simple("bool");
export const NULL = simple("null");
export const TIMESTAMP = simple("timestamp");
export const DURATION = simple("duration");
export const QUANTITY = simple("kubernetes.Quantity");
export const listOf = (item: CelType): CelType => ({ name: "list", of: [item] });
export const mapOf = (key: CelType, value: CelType): CelType => ({ name: "map", of: [key, value] });
export const typeOf = (type: CelType): CelType => ({ name: "type", of: [type] });
/** A type parameter: bound by its first use in a signature. */
export const A: CelType = simple("<A>");
export const B: CelType = simple("<B>");

/** A type in the server's messages. */
export function typeText({ name, of = [] }: CelType): string {
  return of.length === 0 ? name : `${name}(${of.map(typeText).join(", ")})`;
}

export type Bindings = ReadonlyMap<string, CelType>;

/** Bindings of type parameters that make both types equal, or undefined. */
export function unify(wanted: CelType, found: CelType, bindings: Bindings): Bindings | undefined {
  if (wanted.name.startsWith("<")) {
    const bound = bindings.get(wanted.name);
    if (!bound || bound.name === "dyn") return new Map([...bindings, [wanted.name, found]]);
    return unify(bound, found, bindings);
  }
  if (wanted.name === "dyn" || found.name === "dyn") return bindings;
  if (wanted.fields || found.fields) return wanted.fields === found.fields ? bindings : undefined;
  if (wanted.name !== found.name) return undefined;
  let all: Bindings | undefined = bindings;
  for (const [index, inner] of (wanted.of ?? []).entries()) {
    all = all && unify(inner, found.of?.[index] ?? DYN, all);
  }
  return all;
}

/** A signature's type with its type parameters bound; unbound ones are dyn. */
export function filledIn(type: CelType, bindings: Bindings): CelType {
  if (type.name.startsWith("<")) return bindings.get(type.name) ?? DYN;
  return type.of ? { ...type, of: type.of.map((inner) => filledIn(inner, bindings)) } : type;
}
