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

const createType = (name: string): CelType => ({ name });

export const DYN = createType("dyn");
export const INT = createType("int");
export const UINT = createType("uint");
export const DOUBLE = createType("double");
export const STRING = createType("string");
export const BYTES = createType("bytes");
export const BOOL = createType("bool");
export const NULL = createType("null");
export const TIMESTAMP = createType("timestamp");
export const DURATION = createType("duration");
export const QUANTITY = createType("kubernetes.Quantity");
export const listOf = (item: CelType): CelType => ({ name: "list", of: [item] });
export const mapOf = (key: CelType, value: CelType): CelType => ({ name: "map", of: [key, value] });
export const typeOf = (type: CelType): CelType => ({ name: "type", of: [type] });
/** A type parameter: bound by its first use in a signature. */
export const A: CelType = createType("<A>");
export const B: CelType = createType("<B>");

/** A type in the server's messages. */
export function formatType({ name, of = [] }: CelType): string {
  return of.length === 0 ? name : `${name}(${of.map(formatType).join(", ")})`;
}

export type Bindings = ReadonlyMap<string, CelType>;

/** Bindings of type parameters that make both types equal, or undefined. */
export function unify(expected: CelType, actual: CelType, bindings: Bindings): Bindings | undefined {
  if (expected.name.startsWith("<")) {
    const bound = bindings.get(expected.name);
    if (!bound || bound.name === "dyn") return new Map([...bindings, [expected.name, actual]]);
    return unify(bound, actual, bindings);
  }
  if (expected.name === "dyn" || actual.name === "dyn") return bindings;
  if (expected.fields || actual.fields) return expected.fields === actual.fields ? bindings : undefined;
  if (expected.name !== actual.name) return undefined;
  let all: Bindings | undefined = bindings;
  for (const [index, inner] of (expected.of ?? []).entries()) {
    all = all && unify(inner, actual.of?.[index] ?? DYN, all);
  }
  return all;
}

/** A signature's type with its type parameters bound; unbound ones are dyn. */
export function applyBindings(type: CelType, bindings: Bindings): CelType {
  if (type.name.startsWith("<")) return bindings.get(type.name) ?? DYN;
  return type.of ? { ...type, of: type.of.map((inner) => applyBindings(inner, bindings)) } : type;
}
