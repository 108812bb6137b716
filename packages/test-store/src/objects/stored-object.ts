import { Fault, invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";

/** A value of an entry, as on the wire. */
export interface Value {
  readonly data: Uint8Array;
  readonly type: number;
}

export type Entries = ReadonlyMap<string, Value>;

/** An object as a node keeps it. Never changed in place, so that copies share it. */
export interface StoredObject {
  readonly version: bigint;
  readonly entries: Entries;
}

/** Returns the object after a write; `undefined` stands for an absent object. */
export type Change = (before: StoredObject | undefined) => StoredObject | undefined;

const EMPTY: StoredObject = { version: 0n, entries: new Map() };

/** Replaces all entries. An object without entries only comes to exist: it keeps the entries it has. */
export function replaceEntries(entries: Entries): Change {
  return (before) => {
    if (entries.size === 0) return before ?? EMPTY;
    return { version: (before?.version ?? 0n) + 1n, entries };
  };
}

export function mergeEntries(entries: Entries): Change {
  return (before = EMPTY) => ({
    version: before.version + 1n,
    entries: new Map([...before.entries, ...entries]),
  });
}

export const removeObject: Change = () => undefined;

export interface Batch {
  readonly values: Entries;
  readonly deleteKeys: readonly string[];
  readonly expectedVersion?: bigint | undefined;
}

/** Sets and deletes entries; the version grows once for all sets and once for each deleted entry. */
export function changeEntries({ values, deleteKeys, expectedVersion }: Batch): Change {
  return (before) => {
    const object = before ?? EMPTY;
    if (expectedVersion !== undefined && object.version !== expectedVersion) {
      const detail = { kind: "conflict", resource: "object", name: "" } as const;
      throw new Fault(detail, `version mismatch: expected ${expectedVersion}, the object has ${object.version}`);
    }
    const entries = new Map([...object.entries, ...values]);
    const deleted = deleteKeys.filter((key) => entries.delete(key)).length;
    if (values.size + deleted === 0) return before;
    return { version: object.version + (values.size > 0 ? 1n : 0n) + BigInt(deleted), entries };
  };
}

/** Whether two copies hold the same object. */
export function equalObjects(a: StoredObject | undefined, b: StoredObject | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.version !== b.version || a.entries.size !== b.entries.size) return false;
  for (const [key, value] of a.entries) {
    const other = b.entries.get(key);
    if (other === undefined || other.type !== value.type || !equalBytes(other.data, value.data)) return false;
  }
  return true;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

const ALLOWED = /^[a-z0-9._:-]+$/;

/** Checks an object id or entry key and returns it in lower case, as the store keeps it. */
export function normalizeId(field: string, text: string, maxLength: number): string {
  const id = text.toLowerCase();
  const problem =
    id === ""
      ? "is missing"
      : id.length > maxLength
        ? `is ${id.length} characters long; the limit is ${maxLength}`
        : ALLOWED.test(id)
          ? undefined
          : "contains a character other than a-z, 0-9, '.', '_', ':' and '-'";
  if (problem === undefined) return id;
  throw invalidArgument("the request", [{ path: pathOf(ROOT_PATH, field), message: problem }]);
}
