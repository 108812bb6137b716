/** The parts of a JSON schema that field descriptions use. */
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  /** Accepted in requests, without effect. */
  readonly "x-ignored"?: boolean;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** A schema, and the id of its fields if it is anonymous. */
interface Place {
  readonly schema: Schema;
  readonly id: string;
}

/** The schema without its null alternative. */
export function nonNullSchema(schema: Schema): Schema {
  return (
    schema.anyOf?.find(({ type, $ref }) => $ref !== undefined || (type !== undefined && type !== "null")) ?? schema
  );
}

/** The object schema of a field, or of the items of a list. */
export function objectSchema(
  { schema, id }: Place,
  schemas: Schemas,
): { readonly id: string; readonly body: Schema | undefined } {
  const one = nonNullSchema(schema);
  if (one.$ref !== undefined) {
    const name = one.$ref.split("/").at(-1) ?? "";
    return { id: name, body: schemas[name] };
  }
  if (one.items) return objectSchema({ schema: one.items, id }, schemas);
  return { id, body: one.properties ? one : undefined };
}
