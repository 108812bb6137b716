type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without members that are undefined: what is not said is not there. */
export function omitUndefined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The text, unless it is empty: on the wire an absent text is an empty one. */
export function nonEmptyText(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** The list, unless it is empty: on the wire an absent list is an empty one. */
export function nonEmptyList<T>(items: readonly T[]): T[] | undefined {
  return items.length === 0 ? undefined : [...items];
}

/** The map, unless it is empty: on the wire an absent map is an empty one. */
export function nonEmptyMap<T>(entries: Readonly<Record<string, T>>): Record<string, T> | undefined {
  return Object.keys(entries).length === 0 ? undefined : { ...entries };
}
