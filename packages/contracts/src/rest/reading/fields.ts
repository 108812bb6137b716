import type { Violation } from "@oaas/foundation";
import { MAX_TEXT_LENGTH, type TextRule, type WholeRange } from "@oaas/models";
import { z } from "zod";
import { asText, asValue, asWritten } from "./wire-scalar.ts";

/**
 * Readers for the fields of request documents.
 *
 * They are lenient about form (null means absent, YAML scalars are converted, unknown fields are dropped) and strict about
 * values (ranges, enums, rules). Every violation includes a fix.
 */

/** A string; other scalars are converted. */
export function readText() {
  return z.preprocess(
    asText,
    z
      .string()
      .max(MAX_TEXT_LENGTH)
      .meta({ type: ["string", "number", "boolean"] }),
  );
}

/** A string that a domain rule accepts. */
export function readRuledText<T extends string = string>(rule: TextRule) {
  return z.preprocess(
    asWritten,
    ruled(rule).transform((value) => value as T),
  );
}

function ruled(rule: TextRule) {
  const schema = z.string().superRefine((value, context) => {
    const objection = rule.findProblem(value);
    if (objection) context.addIssue({ code: "custom", message: objection.message, params: { fix: objection.fix } });
  });
  return schema.meta(described(rule));
}

function described(rule: TextRule) {
  return {
    description: `Must be ${rule.what}.`,
    maxLength: rule.maxLength,
    ...(rule.pattern === undefined ? {} : { pattern: rule.pattern }),
  };
}

/** May be absent or null; reads an empty string as absent. */
export function nullishOrEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z
    .preprocess((value) => (value === "" ? undefined : value), schema.nullish())
    .meta({ [EMPTY_IS_ABSENT]: true });
}

/** The value, or undefined when absent, null or an empty string. */
export function optionalUnlessEmpty<Schema extends z.ZodType>(schema: Schema) {
  return nullishOrEmpty(schema).transform((value) => value ?? undefined);
}

/** Marks a schema for openapi/json-schemas.ts, which needs another form for it in JSON Schema. */
export const EMPTY_IS_ABSENT = "x-empty-is-absent";

/** An RFC 3339 timestamp. */
export function readTimestamp() {
  return z.preprocess(asWritten, z.iso.datetime({ offset: true }));
}

/** An integer within a range. */
export function readInteger(range: WholeRange) {
  return z.preprocess(asValue, integerSchema(range));
}

/** Not `z.int()`: zod skips refinements of the object after its issue, and with them the rules across fields. */
export function integerSchema(range: WholeRange) {
  const bounded = z.number().min(range.min).max(range.max);
  const objection = { message: "is not an integer", params: { fix: "use an integer" } };
  return bounded.refine(Number.isInteger, objection).meta({ type: "integer" });
}

/** A number from 0 to 1. */
export function readFraction() {
  return z.preprocess(asValue, z.number().min(0).max(1));
}

export function readNumber() {
  return z.preprocess(asValue, z.number());
}

export function readBoolean() {
  return z.preprocess(asValue, z.boolean());
}

/** A value of a domain enum in the spelling of the API; `others` are spellings that are read and never written. */
export function choice<T extends string>(
  words: Readonly<Record<string, T>>,
  spell: (word: T) => string,
  others: Readonly<Record<string, T>> = {},
) {
  const meaning = new Map<string, T>(Object.entries(others));
  for (const word of Object.values(words)) meaning.set(spell(word), word);
  const spellings = [...new Set([...Object.values(words).map(spell), ...Object.keys(others)])];
  return z.preprocess(
    asWritten,
    z.enum(spellings).transform((spelling) => meaning.get(spelling) as T),
  );
}

/** Rules across the fields of an object. Violation paths are relative to the object. */
export type Rules = (members: Readonly<Record<string, unknown>>) => readonly Violation[];

/** A field of a document: its schema, and its description for the OpenAPI document and the reference. */
export interface Field<Schema extends z.ZodType = z.ZodType> {
  readonly description: string;
  readonly schema: Schema;
}

export function field<Schema extends z.ZodType>(description: string, schema: Schema): Field<Schema> {
  return { description, schema };
}

export type Fields = Readonly<Record<string, Field>>;

type ShapeOf<Declared extends Fields> = { readonly [Name in keyof Declared]: Declared[Name]["schema"] };

/** Carries descriptions from a schema to openapi/json-schemas.ts. */
export const DESCRIPTIONS = "x-descriptions";

/** An object in a request. */
export function input<Declared extends Fields>(declared: Declared, violationsOf?: Rules) {
  return reading(withDescriptions(z.object(shapeOf(declared)), declared), violationsOf);
}

/** An object in a response. Readers keep unknown fields, which later versions may add. */
export function view<Declared extends Fields>(declared: Declared): z.ZodObject<ShapeOf<Declared>> {
  return withDescriptions(z.looseObject(shapeOf(declared)), declared);
}

function shapeOf<Declared extends Fields>(declared: Declared): ShapeOf<Declared> {
  return Object.fromEntries(Object.entries(declared).map(([name, { schema }]) => [name, schema])) as ShapeOf<Declared>;
}

/** Attaches field descriptions to a schema, in place: copying schemas is expensive. */
function withDescriptions<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, declared: Fields) {
  const descriptions = Object.fromEntries(Object.entries(declared).map(([name, each]) => [name, each.description]));
  return schema.register(z.globalRegistry, { [DESCRIPTIONS]: descriptions });
}

function reading<Shape extends z.ZodRawShape>(members: z.ZodObject<Shape>, violationsOf?: Rules) {
  // A YAML scalar is never an object.
  if (violationsOf === undefined) return z.preprocess(asValue, members);
  const checked = members.superRefine(
    (value, context) => {
      if (typeof value !== "object" || value === null) return;
      for (const violation of violationsOf(value)) {
        context.addIssue({ code: "custom", message: violation.message, params: { violation } });
      }
    },
    // Also when a field is invalid, so that all violations are reported at once.
    { when: () => true },
  );
  return z.preprocess(asValue, checked);
}

/** The value, or undefined when absent or null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** The value, or a default when absent or null. */
export function withDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.nullish().transform((given) => given ?? value);
}

/**
 * A list. One that is too long is rejected before its items are read, which would report each of them. Lists without a
 * limit occur only in responses.
 */
export function items<Item extends z.ZodType>(item: Item, max = Infinity) {
  return z.preprocess(
    (value, context) => {
      if (!Array.isArray(value) || value.length <= max) return asValue(value);
      return rejectLength(context, `has ${value.length} items`, max);
    },
    max === Infinity ? z.array(item) : z.array(item).max(max),
  );
}

/** A list; absent is empty. */
export function listOf<Item extends z.ZodType>(item: Item, max?: number) {
  return withDefault(items(item, max), []);
}

/** A map. One with too many entries is rejected before they are read. Maps without a limit occur only in responses. */
export function entries<Value extends z.ZodType>(value: Value, max = Infinity, keyRule?: TextRule) {
  const record = z.record(keyRule === undefined ? z.string() : ruled(keyRule), value);
  return z.preprocess(
    (map, context) => {
      const size = typeof map === "object" && map !== null ? Object.keys(map).length : 0;
      return size <= max ? withoutPrototype(map, context) : rejectLength(context, `has ${size} entries`, max);
    },
    max === Infinity ? record : record.meta({ maxProperties: max }),
  );
}

/** A map; absent is empty. */
export function mapOf<Value extends z.ZodType>(value: Value, max?: number, keyRule?: TextRule) {
  return withDefault(entries(value, max, keyRule), {});
}

function rejectLength(context: z.RefinementCtx, message: string, max: number): never {
  context.addIssue({ code: "custom", message, params: { fix: `use at most ${max}` } });
  return z.NEVER;
}

function withoutPrototype(value: unknown, context: z.RefinementCtx): unknown {
  if (typeof value === "object" && value !== null) rejectPrototype(value, context);
  return asValue(value);
}

/** A plain object cannot have the key `__proto__`; it would be dropped silently. */
export function rejectPrototype(
  value: object,
  context: z.RefinementCtx,
  path: readonly (string | number)[] = [],
): void {
  if (!Object.hasOwn(value, "__proto__")) return;
  context.addIssue({
    code: "custom",
    path: [...path],
    message: "has the reserved name __proto__",
    params: { fix: "use another name" },
  });
}

type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/** The object without undefined properties; the same object when it has none. */
export function omitUndefined<T extends object>(members: T): Present<T> {
  for (const name in members) if (members[name] === undefined) return withoutUndefined(members) as Present<T>;
  return members;
}

function withoutUndefined(members: object): object {
  const present: Record<string, unknown> = {};
  for (const name in members) {
    const value = (members as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined) present[name] = value;
  }
  return present;
}
