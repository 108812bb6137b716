import { assertConditions } from "../../port/transaction.ts";
import { entryOf } from "../../port/transaction.ts";
import { rangeOf } from "../../port/key-order.ts";
import { leaseLostFault } from "../../port/store-faults.ts";
import type { ChangeEvent, Entry, LeaseId, Transaction, Write } from "../../port/key-value-store.ts";
import type { Table } from "./table.ts";

/**
 * Applies one transaction to the table at the given revision and returns the changes.
 *
 * Guarantees: a conflict or an unknown lease throws before the first write, so other transactions of the same batch are
 * not affected.
 */
export function applyTransaction(
  table: Table,
  transaction: Transaction,
  revision: number,
  leaseExists: (lease: LeaseId) => boolean,
): ChangeEvent[] {
  const { conditions } = transaction;
  if (conditions !== undefined) assertConditions(conditions, (key) => table.get(key));
  for (const write of transaction.writes) {
    if (write.op === "put" && write.lease !== undefined && !leaseExists(write.lease)) {
      throw leaseLostFault(write.lease, "it does not exist");
    }
  }
  const events: ChangeEvent[] = [];
  for (const write of transaction.writes) applyWrite(table, write, revision, events);
  return events;
}

function applyWrite(table: Table, write: Write, revision: number, events: ChangeEvent[]): void {
  if (write.op === "put") {
    const previous = table.get(write.key);
    const entry = entryOf(write, revision, previous);
    table.put(entry, previous === undefined);
    events.push(previous === undefined ? { type: "put", entry } : { type: "put", entry, previous });
    return;
  }
  for (const previous of doomed(table, write)) {
    table.delete(previous.key);
    events.push({ type: "delete", key: previous.key, revision, previous });
  }
}

function doomed(table: Table, write: Exclude<Write, { op: "put" }>): Entry[] {
  if (write.op === "delete-prefix") return table.scan(rangeOf({ prefix: write.prefix }), Number.MAX_SAFE_INTEGER);
  const previous = table.get(write.key);
  return previous === undefined ? [] : [previous];
}
