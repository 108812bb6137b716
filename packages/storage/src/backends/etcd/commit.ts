import { checkTransaction } from "../../port/check-requests.ts";
import { isSatisfied } from "../../port/transaction.ts";
import { conflictFault, conflictOf, unknownOutcomeFault } from "../../port/store-faults.ts";
import {
  MAX_OPERATIONS,
  type Committed,
  type Condition,
  type Entry,
  type Transaction,
  type Write,
} from "../../port/key-value-store.ts";
import { Unanswered } from "./connection/connection.ts";

/** Store operations for a commit. */
export interface CommitActions {
  /** Sends a transaction once. Throws `Unanswered` if it was sent and no response arrived. */
  send(transaction: Transaction): Promise<Committed>;
  read(keys: readonly string[]): Promise<(Entry | undefined)[]>;
  revision(): Promise<number>;
}

/**
 * Commits a transaction, also when a response is lost.
 *
 * Flow: send → no response → read the keys → own values found: done; keys unchanged: send again, which is safe because
 * the guard allows only one of the two to succeed; other values found: conflict, outcome unknown.
 * Guarantees: a transaction with a guard (a condition on a key it writes that cannot be satisfied twice) is applied at
 * most once. A transaction without a guard is never sent twice; its fault reports an unknown outcome.
 * Caveats: own writes are recognised by their values, so two writers of equal values count as one. A key with the
 * condition `absent` that another client deletes in between may be created twice.
 */
export async function commitOnce(transaction: Transaction, actions: CommitActions): Promise<Committed> {
  checkTransaction(transaction);
  let lost: Unanswered | undefined;
  for (;;) {
    try {
      return await actions.send(transaction);
    } catch (thrown) {
      if (thrown instanceof Unanswered) lost = thrown;
      else if (lost === undefined || conflictOf(thrown) === undefined) throw thrown;
    }
    if (!guardsItself(transaction)) throw unknownOutcomeFault("etcd", lost.fault);
    const found = await readBack(transaction, actions, lost);
    const broken = transaction.conditions?.find((condition) => !isSatisfied(condition, found.get(condition.key)));
    if (broken === undefined) continue;
    const revision = appliedAt(transaction, found);
    if (revision === undefined) throw movedOn(broken, found.get(broken.key));
    return { revision: revision === 0 ? await actions.revision() : revision, changed: true };
  }
}

async function readBack(
  transaction: Transaction,
  actions: CommitActions,
  lost: Unanswered,
): Promise<ReadonlyMap<string, Entry>> {
  const keys = new Set((transaction.conditions ?? []).map(({ key }) => key));
  for (const write of transaction.writes) if (write.op !== "delete-prefix") keys.add(write.key);
  const all = [...keys];
  const found = new Map<string, Entry>();
  try {
    for (let at = 0; at < all.length; at += MAX_OPERATIONS) {
      for (const entry of await actions.read(all.slice(at, at + MAX_OPERATIONS))) {
        if (entry !== undefined) found.set(entry.key, entry);
      }
    }
  } catch {
    throw unknownOutcomeFault("etcd", lost.fault);
  }
  return found;
}

/** Whether a condition cannot be satisfied after the transaction was applied. */
export function guardsItself({ conditions = [], writes }: Transaction): boolean {
  return conditions.some((condition) => writes.some((write) => breaks(write, condition)));
}

function breaks(write: Write, condition: Condition): boolean {
  if (write.op === "put") {
    return write.key === condition.key && (condition.test === "absent" || condition.test === "mod-revision");
  }
  const deleted = write.op === "delete" ? write.key === condition.key : condition.key.startsWith(write.prefix);
  return deleted && (condition.test === "mod-revision" || condition.test === "create-revision");
}

/** Returns the revision of the applied writes; 0 for deletions only; undefined if they were not applied. */
function appliedAt({ writes }: Transaction, found: ReadonlyMap<string, Entry>): number | undefined {
  const revisions = new Set<number>();
  for (const write of writes) {
    if (write.op !== "put") continue;
    const entry = found.get(write.key);
    if (entry === undefined || entry.value !== write.value || entry.lease !== write.lease) return undefined;
    revisions.add(entry.modRevision);
  }
  if (revisions.size > 1) return undefined;
  const [revision = 0] = revisions;
  for (const write of writes) {
    const left = write.op === "delete" ? found.get(write.key) : undefined;
    if (left !== undefined && (revision === 0 || left.createRevision <= revision)) return undefined;
  }
  return revision;
}

function movedOn(condition: Condition, entry: Entry | undefined): Error {
  return conflictFault({
    condition,
    key: condition.key,
    present: entry && { modRevision: entry.modRevision, createRevision: entry.createRevision },
    outcomeUnknown: true,
  });
}
