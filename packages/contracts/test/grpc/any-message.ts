import { ScalarType, type DescField, type DescMessage, type DescOneof } from "@bufbuild/protobuf";
import fc from "fast-check";

/** Plain values that `create(schema, …)` takes. */
type Init = Record<string, unknown>;

/** How often an optional thing is there: always, so that every field crosses the wire, or sometimes. */
export type Fill = "every field" | "some fields";

/** Deep enough to nest a recursive message in itself. */
const DEPTH = 3;

/** Any value of a message, made from its descriptor. */
export function anyMessage(message: DescMessage, fill: Fill, depth = DEPTH): fc.Arbitrary<Init> {
  const members = message.members.map((member) => {
    const value = member.kind === "oneof" ? anyOneof(member, fill, depth) : anyField(member, fill, depth);
    return present(value, fill).map((made) => [member.localName, made] as const);
  });
  return fc.tuple(...members).map((entries) => Object.fromEntries(entries.filter(([, value]) => value !== undefined)));
}

function present<T>(value: fc.Arbitrary<T>, fill: Fill): fc.Arbitrary<T | undefined> {
  return fill === "every field" ? value : fc.option(value, { nil: undefined, freq: 2 });
}

/** For every case of every oneof, a value that has it: chance alone might miss one. */
export function everyCase(message: DescMessage): fc.Arbitrary<Init>[] {
  return message.oneofs.flatMap((oneof) =>
    casesOf(oneof, "every field", DEPTH).map((chosen) => chosen.map((value) => ({ [oneof.localName]: value }))),
  );
}

function anyOneof(oneof: DescOneof, fill: Fill, depth: number): fc.Arbitrary<Init> {
  return fc.oneof(...casesOf(oneof, fill, depth));
}

function casesOf(oneof: DescOneof, fill: Fill, depth: number): fc.Arbitrary<Init>[] {
  return oneof.fields.map((field) => anyField(field, fill, depth).map((value) => ({ case: field.localName, value })));
}

function anyField(field: DescField, fill: Fill, depth: number): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "list":
      return fc.array(anyElement(field, fill, depth), sizes(field, fill, depth));
    case "map": {
      if (field.mapKey !== ScalarType.STRING)
        throw new Error(`${field.toString()}: only string keys can be made so far`);
      const { minLength: minKeys, maxLength: maxKeys } = sizes(field, fill, depth);
      return fc.dictionary(anyText, anyElement(field, fill, depth), { minKeys, maxKeys, noNullPrototype: true });
    }
    case "message":
      return depth === 0 ? fc.constant(undefined) : anyElement(field, fill, depth);
    case "scalar":
    case "enum":
      return anyElement(field, fill, depth);
  }
}

/** Lists of messages end at the depth, or a message that contains itself would never be finished. */
function sizes(field: DescField, fill: Fill, depth: number): { minLength: number; maxLength: number } {
  if (field.message !== undefined && depth === 0) return { minLength: 0, maxLength: 0 };
  return { minLength: fill === "every field" ? 1 : 0, maxLength: 3 };
}

function anyElement(field: DescField, fill: Fill, depth: number): fc.Arbitrary<unknown> {
  if (field.message === undefined) return anyPlain(field, fill);
  if (isJsonObject(field)) return anyJsonObject;
  return depth === 0 ? fc.constant({}) : anyMessage(field.message, fill, depth - 1);
}

/** Our code has a field of the type Struct as a JSON object. */
function isJsonObject({ message, parent }: DescField): boolean {
  return message?.typeName === "google.protobuf.Struct" && parent.typeName !== "google.protobuf.Value";
}

function anyPlain(field: DescField, fill: Fill): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) {
    const numbers = field.enum.values.map((value) => value.number);
    return fc.constantFrom(...(fill === "every field" && numbers.length > 1 ? numbers.slice(1) : numbers));
  }
  const scalar = SCALARS[field.scalar ?? ScalarType.STRING];
  return fill === "every field" ? scalar.filter(isNotDefault) : scalar;
}

function isNotDefault(value: unknown): boolean {
  return value instanceof Uint8Array || typeof value === "string" ? value.length > 0 : Boolean(value);
}

const anyText = fc.string({ maxLength: 12, unit: "binary" });

/** Fractions that C++ and JavaScript write with the same digits, so that texts can be compared. */
const fraction = fc.integer({ min: -(2 ** 20), max: 2 ** 20 }).map((n) => n / 64 + 0);

const anyJsonObject = fc.dictionary(
  anyText,
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, false),
      fraction,
      anyText,
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(anyText, tie("value"), { maxKeys: 2, noNullPrototype: true }),
    ),
  })).value,
  { maxKeys: 3, noNullPrototype: true },
);

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const SCALARS: Readonly<Record<ScalarType, fc.Arbitrary<unknown>>> = {
  [ScalarType.STRING]: anyText,
  [ScalarType.BYTES]: fc.uint8Array({ maxLength: 12 }),
  [ScalarType.BOOL]: fc.boolean(),
  [ScalarType.DOUBLE]: fraction,
  // A quarter is exact in 32 bits and short in decimal.
  [ScalarType.FLOAT]: fc.integer({ min: -(2 ** 16), max: 2 ** 16 }).map((n) => n / 4 + 0),
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};
