type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** The object without members that are undefined: what is not said is not there. */
export function present<T extends object>(object: T): Present<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Present<T>;
}

/** The text, unless it is empty: on the wire an absent text is an empty one. */
export function text(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

/** The list, unless it is empty: on the wire an absent list is an empty one. */
export function list<T>(items: readonly T[]): T[] | undefined {
  return items.length === 0 ? undefined : [...items];
}

/** The map, unless it is empty: on the wire an absent map is an empty one. */
export function record<T>(entries: Readonly<Record<string, T>>): Record<string, T> | undefined {
  return Object.keys(entries).length === 0 ? undefined : { ...entries };
}
