/** Returns the values under which an object is indexed: labels, owners, names of referenced objects. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Objects by index value; maintained by the store. */
export class Indexes<T, I extends string> {
  readonly #functions: Readonly<Record<I, IndexFunction<T>>>;
  readonly #entries = new Map<I, Map<string, Set<string>>>();

  constructor(functions: Readonly<Record<I, IndexFunction<T>>>) {
    this.#functions = functions;
    for (const name of Object.keys(functions) as I[]) this.#entries.set(name, new Map());
  }

  /** Updates the index for the object at a key; undefined means absent. */
  move(key: string, before: T | undefined, after: T | undefined): void {
    for (const [name, entries] of this.#entries) {
      const index = this.#functions[name];
      const old = before === undefined ? [] : index(before);
      const now = after === undefined ? [] : index(after);
      for (const value of old) if (!now.includes(value)) drop(entries, value, key);
      for (const value of now) if (!old.includes(value)) add(entries, value, key);
    }
  }

  /** Keys of the objects with this value. */
  keys(name: I, value: string): Iterable<string> {
    return this.#entries.get(name)?.get(value) ?? [];
  }
}

function add(entries: Map<string, Set<string>>, value: string, key: string): void {
  const keys = entries.get(value);
  if (keys) keys.add(key);
  else entries.set(value, new Set([key]));
}

function drop(entries: Map<string, Set<string>>, value: string, key: string): void {
  const keys = entries.get(value);
  if (!keys) return;
  keys.delete(key);
  if (keys.size === 0) entries.delete(value);
}
