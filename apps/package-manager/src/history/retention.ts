import { notFound, type Fault } from "@oaas/foundation";

/** The stored revisions of a history: all from `oldest` on, and the pinned ones before it. */
export interface RetainedRevisions {
  readonly oldest: number;
  readonly pinned: readonly number[];
}

export const ALL_RETAINED: RetainedRevisions = { oldest: 1, pinned: [] };

export const DEFAULT_REVISIONS_KEPT = 50;

export interface Retention {
  /** The number of newest revisions to keep. */
  readonly keep: number;
  /** Whether an older revision is kept too. */
  readonly isPinned: (revision: number) => boolean;
}

/** Bounds the work of one write; after the limit was lowered, the next writes remove the rest. */
const MAX_REMOVED = 5;

/** The revisions to remove in the write that adds `newest`, and those that stay. */
export function pruneRevisions(
  retained: RetainedRevisions,
  newest: number,
  { keep, isPinned }: Retention,
): { readonly retained: RetainedRevisions; readonly removed: readonly number[] } {
  const released = retained.pinned.filter((revision) => !isPinned(revision)).slice(0, MAX_REMOVED);
  const removed = [...released];
  const pinned = retained.pinned.filter((revision) => !released.includes(revision));
  let { oldest } = retained;
  for (; oldest <= newest - keep && removed.length < MAX_REMOVED; oldest += 1) {
    (isPinned(oldest) ? pinned : removed).push(oldest);
  }
  return { retained: { oldest, pinned }, removed };
}

/** The numbers of the stored revisions, newest first. */
export function retainedNumbers({ oldest, pinned }: RetainedRevisions, newest: number): readonly number[] {
  const recent = Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => newest - index);
  return [...recent, ...pinned.toReversed()];
}

/** The fault of a revision that does not exist, or not any more. */
export function missingRevision(
  subject: { readonly resource: "package" | "deployment"; readonly name: string; readonly setting: string },
  revision: number,
  { oldest, pinned }: RetainedRevisions,
): Fault {
  const { resource, name, setting } = subject;
  const isRemoved = revision >= 1 && revision < oldest && !pinned.includes(revision);
  const fault = notFound(`${resource} revision`, `${name} ${revision}`);
  if (!isRemoved) return fault;
  return fault.with({
    message: `revision ${revision} of ${resource} "${name}" was removed; the oldest is ${pinned[0] ?? oldest} (${setting})`,
  });
}
