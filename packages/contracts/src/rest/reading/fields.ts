import type { Violation } from "@oaas/foundation";
import type { TextRule, WholeRange } from "@oaas/models";
import { z } from "zod";
import { asText, asValue, asWritten } from "./wire-scalar.ts";

/**
 * The words that the schemas of this folder are written in.
 *
 * All of them read tolerantly (absent and null are the same, YAML's scalars are read as the wanted type, unknown members
 * are ignored) and judge strictly (ranges, enums, rules). Every objection carries its fix.
 */

/** Any scalar, as text. */
export function text() {
  return z.preprocess(asText, z.string().meta({ type: ["string", "number", "boolean"] }));
}

/** Text that keeps a rule of the domain, as the domain's own type. */
export function textOf<T extends string = string>(rule: TextRule) {
  return z.preprocess(
    asWritten,
    ruled(rule).transform((value) => value as T),
  );
}

function ruled(rule: TextRule) {
  const schema = z.string().superRefine((value, context) => {
    const objection = rule.objectionTo(value);
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

/** Reads an empty text as an absent one. */
export function unlessEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z
    .preprocess((value) => (value === "" ? undefined : value), schema.nullish())
    .transform((value) => value ?? undefined)
    .meta({ [EMPTY_IS_ABSENT]: true });
}

/** Marks a schema for the generated documents; JSON Schema needs another form to say so (json-schemas.ts). */
export const EMPTY_IS_ABSENT = "x-empty-is-absent";

/** A point in time, RFC 3339. */
export function instant() {
  return z.preprocess(asWritten, z.iso.datetime({ offset: true }));
}

/** A whole number within a range. */
export function whole(range: WholeRange) {
  return z.preprocess(asValue, wholeNumber(range));
}

/** Not `z.int()`: its objection would keep the rules across members from being heard. */
export function wholeNumber(range: WholeRange) {
  const bounded = z.number().min(range.min).max(range.max);
  const objection = { message: "is not an integer", params: { fix: "use an integer" } };
  return bounded.refine(Number.isInteger, objection).meta({ type: "integer" });
}

/** A number between 0 and 1. */
export function share() {
  return z.preprocess(asValue, z.number().min(0).max(1));
}

export function flag() {
  return z.preprocess(asValue, z.boolean());
}

/** One of the domain's words, in the spelling of the wire; `others` are spellings that are read and never written. */
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

/** Rules across the members of an object: violations with paths from the object's own root. */
export type Rules = (members: Readonly<Record<string, unknown>>) => readonly Violation[];

/** What each member of a document means, for whoever reads the OpenAPI document and the reference made of it. */
export type Meanings<Shape> = { readonly [Member in keyof Shape]: string };

/** Carries the meanings from a schema to the generated documents (json-schemas.ts). */
export const MEANINGS = "x-meanings";

/** A document that may be sent: an object whose members are explained. */
export function input<Shape extends z.ZodRawShape>(shape: Shape, meanings: Meanings<Shape>, violationsOf?: Rules) {
  return reading(explained(z.object(shape), meanings), violationsOf);
}

/** An object that is only read back by a client, or inside another; no document tells of it. */
export function object<Shape extends z.ZodRawShape>(shape: Shape, violationsOf?: Rules) {
  return reading(z.object(shape), violationsOf);
}

/** Says what the members of an object mean. The very schema is marked, not a copy: copies cost more than the words. */
export function explained<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, meanings: Meanings<Shape>) {
  return schema.register(z.globalRegistry, { [MEANINGS]: meanings });
}

function reading<Shape extends z.ZodRawShape>(members: z.ZodObject<Shape>, violationsOf?: Rules) {
  // A scalar of YAML is no object, as it was written or by its value.
  if (violationsOf === undefined) return z.preprocess(asValue, members);
  const judged = members.superRefine(
    (value, context) => {
      if (typeof value !== "object" || value === null) return;
      for (const violation of violationsOf(value)) {
        context.addIssue({ code: "custom", message: violation.message, params: { violation } });
      }
    },
    // Also when a member was refused: whoever corrects a document wants to hear everything at once.
    { when: () => true },
  );
  return z.preprocess(asValue, judged);
}

/** Absent, null, or what the schema reads. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** What the schema reads, or a default when absent or null. */
export function withDefault<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>) {
  return schema.nullish().transform((given) => given ?? value);
}

/** A list. */
export function items<Item extends z.ZodType>(item: Item) {
  return z.preprocess(asValue, z.array(item));
}

/** A list; absent is empty. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return withDefault(items(item), []);
}

/** A map. */
export function entries<Value extends z.ZodType>(value: Value, keyRule?: TextRule) {
  const key = keyRule === undefined ? z.string() : ruled(keyRule);
  return z.preprocess(withoutPrototype, z.record(key, value));
}

/** A map; absent is empty. */
export function mapOf<Value extends z.ZodType>(value: Value, keyRule?: TextRule) {
  return withDefault(entries(value, keyRule), {});
}

/** Such a member would be dropped without a word, because it cannot be carried by a plain object. */
function withoutPrototype(value: unknown, context: z.RefinementCtx): unknown {
  if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__")) {
    context.addIssue({
      code: "custom",
      message: "has the reserved name __proto__",
      params: { fix: "use another name" },
    });
  }
  return asValue(value);
}

type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/** The object without its undefined members, so that absent means absent; the very object when it has none. */
export function present<T extends object>(members: T): Present<T> {
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

/** The shape of what is sent: members we know are typed, and a reader keeps those that a later version adds. */
export function view<Shape extends z.ZodRawShape>(shape: Shape, meanings: Meanings<Shape>): z.ZodObject<Shape> {
  return explained(z.looseObject(shape), meanings);
}
