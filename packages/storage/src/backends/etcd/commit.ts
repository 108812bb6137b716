import { checkTransaction } from "../../port/check-requests.ts";
import { holds } from "../../port/transaction.ts";
import { conflictFault, conflictOf, unknownOutcomeFault } from "../../port/store-faults.ts";
import {
  MAX_OPERATIONS,
  type Committed,
  type Condition,
  type Entry,
  type Transaction,
  type Write,
} from "../../port/key-value-store.ts";
import { Unanswered } from "./connection.ts";

/** What committing needs of the store. */
export interface CommitActions {
  /** Sends it once. Throws `Unanswered` when it was sent and no answer came. */
  send(transaction: Transaction): Promise<Committed>;
  read(keys: readonly string[]): Promise<(Entry | undefined)[]>;
  revision(): Promise<number>;
}

/**
 * Commits, also when an answer gets lost.
 *
 * Flow: send → no answer → read the keys back → ours is there: done; nothing has happened: send again, which is safe
 * because the guard lets only one of the two take effect; something else is there: conflict, outcome unknown.
 * Guarantees: a transaction with a guard of its own (a condition on a key it writes that cannot hold twice) is applied
 * at most once; one without is never sent twice, and its fault says that the outcome is unknown.
 * Caveats: "ours" is recognised by its values, so two writers of the very same values count as one; a key guarded by
 * `absent` that somebody else deletes in between may be created a second time.
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
    const broken = transaction.conditions?.find((condition) => !holds(condition, found.get(condition.key)));
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

/** Whether some condition cannot hold any more once the transaction was applied. */
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

/** The revision at which all writes are there; 0 when only deletions were asked for; undefined when they are not. */
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
