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

/** A write to one object, as data: copies in other processes apply it too. */
export type Change =
  | { readonly kind: "replace"; readonly entries: Entries }
  | { readonly kind: "merge"; readonly entries: Entries }
  | { readonly kind: "remove" }
  | ({ readonly kind: "batch" } & Batch);

export interface Batch {
  readonly values: Entries;
  readonly deleteKeys: readonly string[];
  readonly expectedVersion?: bigint | undefined;
}

const EMPTY: StoredObject = { version: 0n, entries: new Map() };

/**
 * Returns the object after a write, `undefined` for an absent one. A write that changes nothing returns the same object.
 *
 * A replacement without entries only makes the object exist: it keeps the entries it has.
 */
export function applyChange(change: Change, before: StoredObject | undefined): StoredObject | undefined {
  const { version, entries } = before ?? EMPTY;
  switch (change.kind) {
    case "replace":
      if (change.entries.size === 0) return before ?? EMPTY;
      return { version: version + 1n, entries: change.entries };
    case "merge":
      return { version: version + 1n, entries: new Map([...entries, ...change.entries]) };
    case "remove":
      return undefined;
    case "batch":
      return applyBatch(change, before);
  }
}

/** The version grows once for all sets and once for each deleted entry. */
function applyBatch({ values, deleteKeys, expectedVersion }: Batch, before: StoredObject | undefined) {
  const object = before ?? EMPTY;
  if (expectedVersion !== undefined && object.version !== expectedVersion) {
    const detail = { kind: "conflict", resource: "object", name: "" } as const;
    throw new Fault(detail, `version mismatch: expected ${expectedVersion}, the object has ${object.version}`);
  }
  const entries = new Map([...object.entries, ...values]);
  const deleted = deleteKeys.filter((key) => entries.delete(key)).length;
  if (values.size + deleted === 0) return before;
  return { version: object.version + (values.size > 0 ? 1n : 0n) + BigInt(deleted), entries };
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
