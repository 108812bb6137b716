import type { TextRule, WholeRange } from "@oaas/models";
import { z } from "zod";
import * as fields from "./fields.ts";

/**
 * One declaration per REST resource: it lists every property of the model with its JSON name, its type and its
 * description. The reader, the writer, the response schema and the API reference all come from it, and the compiler
 * rejects a declaration that misses a property of the model.
 *
 *     const point = resource<Point>()({
 *       x: required("x", "Distance to the right.", integer(RANGE)),
 *       label: optional("label", "Human-readable name.", string()),
 *     });
 *     point.input; point.view; point.toJson(model);
 */

/** A value in JSON: the schema that reads it, the schema of responses, and the way back. */
export interface Codec<Value, View extends z.ZodType> {
  readonly read: z.ZodType<Value>;
  readonly view: View;
  readonly write: (value: Value) => z.output<View>;
  /** An empty string is read as absent. */
  readonly emptyIsAbsent?: true;
}

/** The writer of values that JSON represents as they are. */
function unchanged<T>(value: T): T {
  return value;
}

/** A string; with a rule, one that the rule accepts. Without a rule numbers and booleans are read as their text. */
export function string<T extends string = string>(rule?: TextRule): Codec<T, z.ZodString> {
  const read = rule === undefined ? (fields.readText() as unknown as z.ZodType<T>) : fields.readRuledText<T>(rule);
  return { read, view: z.string(), write: unchanged };
}

export function integer(range: WholeRange): Codec<number, z.ZodInt> {
  return { read: fields.readInteger(range), view: z.int(), write: unchanged };
}

export function boolean(): Codec<boolean, z.ZodBoolean> {
  return { read: fields.readBoolean(), view: z.boolean(), write: unchanged };
}

export function number(): Codec<number, z.ZodNumber> {
  return { read: fields.readNumber(), view: z.number(), write: unchanged };
}

/** A number from 0 to 1. */
export function fraction(): Codec<number, z.ZodNumber> {
  return { read: fields.readFraction(), view: z.number(), write: unchanged };
}

/** An RFC 3339 timestamp. */
export function timestamp(): Codec<string, z.ZodString> {
  return { read: fields.readTimestamp(), view: z.string(), write: unchanged };
}

/** A value of a domain enum in the spelling of the API; `aliases` are spellings that are only read. */
export function enumeration<T extends string>(
  values: Readonly<Record<string, T>>,
  spell: (value: T) => string = (value) => value,
  aliases: Readonly<Record<string, T>> = {},
): Codec<T, z.ZodType<string>> {
  return { read: fields.choice(values, spell, aliases), view: z.enum(Object.values(values).map(spell)), write: spell };
}

/** One of the given strings. */
export function oneOf<const T extends string>(values: readonly T[]): Codec<T, z.ZodEnum<{ [Value in T]: Value }>> {
  const view = z.enum(values);
  return { read: view, view, write: unchanged };
}

export function array<Value, View extends z.ZodType>(
  item: Codec<Value, View>,
  maxItems?: number,
): Codec<readonly Value[], z.ZodReadonly<z.ZodArray<View>>> {
  return {
    read: fields.items(item.read, maxItems),
    view: z.array(item.view).readonly(),
    write: item.write === unchanged ? (unchanged as never) : (values) => values.map(item.write),
  };
}

export function map<Value, View extends z.ZodType>(
  value: Codec<Value, View>,
  maxEntries?: number,
  keyRule?: TextRule,
): Codec<Readonly<Record<string, Value>>, z.ZodReadonly<z.ZodRecord<z.ZodString, View>>> {
  return {
    read: fields.entries(value.read, maxEntries, keyRule),
    view: z.record(z.string(), value.view).readonly(),
    write:
      value.write === unchanged
        ? (unchanged as never)
        : (entries) => Object.fromEntries(Object.entries(entries).map(([name, each]) => [name, value.write(each)])),
  };
}

/** A resource inside another one. */
export function nested<Model extends object, View extends z.ZodType>(inner: {
  readonly input: z.ZodType<Model>;
  readonly view: View;
  readonly toJson: (model: Model) => z.output<View>;
}): Codec<Model, View> {
  return { read: inner.input, view: inner.view, write: inner.toJson };
}

/** The same type, with an empty string read as absent. */
export function emptyIsAbsent<Value, View extends z.ZodType>(codec: Codec<Value, View>): Codec<Value, View> {
  return { ...codec, emptyIsAbsent: true };
}

/** One JSON field: the schema that reads it, the schema of responses (none when it is never returned), its description. */
export interface JsonField<
  Input extends z.ZodType = z.ZodType,
  View extends z.ZodType | undefined = z.ZodType | undefined,
> {
  readonly input: Input;
  readonly view: View;
  readonly description: string;
}

type JsonFields = Readonly<Record<string, JsonField>>;
type InputValues<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends JsonField<infer Input> ? z.output<Input> : never;
};
type ViewNames<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly view: z.ZodType } ? Name : never;
}[keyof Fields];
type ViewOf<Field> = Field extends { readonly view: infer View extends z.ZodType } ? View : never;
type ViewValues<Fields> = { readonly [Name in ViewNames<Fields>]: z.output<ViewOf<Fields[Name]>> | undefined };

/** How one property of a model appears in JSON: usually as one field, as several where the API has aliases. */
export interface Property<Value, Fields extends JsonFields = JsonFields> {
  readonly fields: Fields;
  read(json: InputValues<Fields>): Value;
  readonly write: (value: Value) => ViewValues<Fields>;
  /** The only field, when there is one: it is written without an object around it, which is much cheaper. */
  readonly single?: { readonly name: string; readonly write: (value: Value) => unknown };
}

/** A property with several JSON fields, or with a reader of its own. */
export function property<Value, const Fields extends JsonFields>(declared: {
  readonly fields: Fields;
  readonly read: (json: InputValues<Fields>) => Value;
  readonly write: (value: Value) => ViewValues<Fields>;
}): Property<Value, Fields> {
  return declared;
}

type OneField<Name extends string, View extends z.ZodType> = { readonly [N in Name]: JsonField<z.ZodType, View> };

function oneField<Value, Name extends string, View extends z.ZodType>(
  name: Name,
  field: JsonField<z.ZodType, View>,
  write: (value: Value) => unknown,
  fallback?: Value,
): Property<Value, OneField<Name, View>> {
  return {
    fields: { [name]: field } as OneField<Name, View>,
    read: (json) => ((json as Readonly<Record<string, unknown>>)[name] ?? fallback) as Value,
    write: (value) => ({ [name]: write(value) }) as ViewValues<OneField<Name, View>>,
    single: { name, write },
  };
}

export function required<const Name extends string, Value, View extends z.ZodType>(
  name: Name,
  description: string,
  codec: Codec<Value, View>,
): Property<Value, OneField<Name, View>> {
  return oneField(name, { input: codec.read, view: codec.view, description }, codec.write);
}

/** Reads a field that may be absent or null; the property then replaces both by its default. */
function absentReader<Value>({ read, emptyIsAbsent: empty }: Codec<Value, z.ZodType>): z.ZodType {
  return empty ? fields.nullishOrEmpty(read) : read.nullish();
}

/** May be absent; left out of responses then. */
export function optional<const Name extends string, Value, View extends z.ZodType>(
  name: Name,
  description: string,
  codec: Codec<Value, View>,
): Property<Value | undefined, OneField<Name, z.ZodOptional<View>>> {
  return oneField(
    name,
    { input: absentReader(codec), view: codec.view.optional(), description },
    (value: Value | undefined) => (value === undefined ? undefined : codec.write(value)),
  );
}

/** May be absent; null in responses then. */
export function nullable<const Name extends string, Value, View extends z.ZodType>(
  name: Name,
  description: string,
  codec: Codec<Value, View>,
): Property<Value | undefined, OneField<Name, z.ZodNullable<View>>> {
  return oneField(
    name,
    { input: absentReader(codec), view: codec.view.nullable(), description },
    (value: Value | undefined) => (value === undefined ? null : codec.write(value)),
  );
}

/** Has a default; always in responses. */
export function defaulted<const Name extends string, Value, View extends z.ZodType>(
  name: Name,
  description: string,
  codec: Codec<Value, View>,
  fallback: NoInfer<Value>,
): Property<Value, OneField<Name, View>> {
  return oneField(name, { input: codec.read.nullish(), view: codec.view, description }, codec.write, fallback);
}

/** Has a default; left out of responses when it is the default. */
export function omittedByDefault<const Name extends string, Value, View extends z.ZodType>(
  name: Name,
  description: string,
  codec: Codec<Value, View>,
  fallback: NoInfer<Value>,
): Property<Value, OneField<Name, z.ZodOptional<View>>> {
  return oneField(
    name,
    { input: codec.read.nullish(), view: codec.view.optional(), description },
    (value: Value) => (value === fallback || isEmpty(value) ? undefined : codec.write(value)),
    fallback,
  );
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  for (const _ in value) return false;
  return true;
}

/** The same property with another schema of responses, such as one that accepts what earlier servers left out. */
export function viewedAs<Value, const Name extends string, View extends z.ZodType>(
  declared: Property<Value, OneField<Name, z.ZodType>>,
  view: View,
): Property<Value, OneField<Name, View>> {
  const [name, field] = Object.entries(declared.fields)[0] as [Name, JsonField<z.ZodType, z.ZodType>];
  return { ...declared, fields: { [name]: { ...field, view } } } as Property<Value, OneField<Name, View>>;
}

/** The declaration of every property of a model. */
export type Properties<Model> = { readonly [Name in keyof Model]-?: Property<Model[Name]> };

type UnionToIntersection<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void
  ? I
  : never;
type AllFields<Declared> = UnionToIntersection<
  {
    [Name in keyof Declared]: Declared[Name] extends { readonly fields: infer Fields } ? Fields : never;
  }[keyof Declared]
>;
type ViewFields<Fields> = { readonly [Name in ViewNames<Fields>]: fields.Field<ViewOf<Fields[Name]>> };
type ViewShape<Fields> = { readonly [Name in ViewNames<Fields>]: ViewOf<Fields[Name]> };

/** What a declaration provides. */
export interface Resource<Model, Fields> {
  /** Reads a document into the model. */
  readonly input: z.ZodType<Model>;
  /** The schema of responses. */
  readonly view: z.ZodObject<ViewShape<Fields>>;
  readonly toJson: (model: Model) => z.output<z.ZodObject<ViewShape<Fields>>>;
  /** The parts of the above, for documents with further fields. */
  readonly inputFields: fields.Fields;
  readonly viewFields: ViewFields<Fields>;
  readonly fromFields: (json: object) => Model;
}

/** Declares a REST resource; `rules` check several fields of a document together. */
export function resource<Model extends object>() {
  return <const Declared extends Properties<Model>>(
    properties: Declared & Record<Exclude<keyof Declared, keyof Model>, never>,
    rules?: fields.Rules,
  ): Resource<Model, AllFields<Declared>> => {
    type Fields = AllFields<Declared>;
    const declared = Object.entries(properties) as [keyof Model & string, Property<unknown>][];
    const all = declared.flatMap(([, { fields: own }]) => Object.entries(own));
    const inputFields = Object.fromEntries(
      all.map(([name, { input, description }]) => [name, fields.field(description, input)]),
    );
    const viewFields = Object.fromEntries(
      all.flatMap(([name, { view, description }]) =>
        view === undefined ? [] : [[name, fields.field(description, view)]],
      ),
    ) as unknown as ViewFields<Fields>;
    const fromFields = (json: object): Model => {
      const model: Record<string, unknown> = {};
      for (const [name, each] of declared) {
        const value = each.read(json as Readonly<Record<string, unknown>>);
        if (value !== undefined) model[name] = value;
      }
      return model as Model;
    };
    const toJson = (model: Model) => {
      const json: Record<string, unknown> = {};
      for (const [name, { single, write }] of declared) {
        if (single === undefined) assignPresent(json, write(model[name]));
        else {
          const value = single.write(model[name]);
          if (value !== undefined) json[single.name] = value;
        }
      }
      return json as z.output<z.ZodObject<ViewShape<Fields>>>;
    };
    return {
      input: fields.input(inputFields, rules).transform(fromFields),
      view: fields.view(viewFields),
      toJson,
      inputFields,
      viewFields,
      fromFields,
    };
  };
}

function assignPresent(target: Record<string, unknown>, values: Readonly<Record<string, unknown>>): void {
  for (const name in values) if (values[name] !== undefined) target[name] = values[name];
}
