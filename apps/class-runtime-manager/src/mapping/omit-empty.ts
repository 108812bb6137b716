type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes undefined members. */
export function omitUndefined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Undefined for an empty text: protobuf has no absent text. */
export function nonEmptyText(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** Undefined for an empty list: protobuf has no absent list. */
export function nonEmptyList<T>(items: readonly T[]): T[] | undefined {
  return items.length === 0 ? undefined : [...items];
}

/** Undefined for an empty map: protobuf has no absent map. */
export function nonEmptyMap<T>(entries: Readonly<Record<string, T>>): Record<string, T> | undefined {
  return Object.keys(entries).length === 0 ? undefined : { ...entries };
}
