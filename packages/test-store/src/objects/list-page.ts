export interface PageRequest {
  readonly prefix?: string | undefined;
  /** 0 selects the default. */
  readonly limit: number;
  readonly cursor?: Uint8Array | undefined;
}

export interface Page<T> {
  readonly items: readonly (readonly [key: string, item: T])[];
  /** Absent on the last page. */
  readonly nextCursor?: Uint8Array;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1024;

/** One page of a map in the order of its keys. The cursor is the last key of the page before. */
export function listPage<T>(all: ReadonlyMap<string, T>, { prefix = "", limit, cursor }: PageRequest): Page<T> {
  const after = cursor === undefined ? "" : new TextDecoder().decode(cursor);
  const size = Math.min(limit === 0 ? DEFAULT_LIMIT : limit, MAX_LIMIT);
  const keys = [...all.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const items = keys.slice(0, size).flatMap((key) => {
    const item = all.get(key);
    return item === undefined ? [] : [[key, item] as const];
  });
  const last = items.at(-1)?.[0];
  return last !== undefined && keys.length > size ? { items, nextCursor: new TextEncoder().encode(last) } : { items };
}
