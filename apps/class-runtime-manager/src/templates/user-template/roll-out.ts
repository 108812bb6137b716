/** A class that uses a template. */
export interface TemplateUser {
  /** `namespace/name`; defines the rollout order. */
  readonly key: string;
  /** Revision of its children; absent before the first rendering. */
  readonly revision?: string;
  /** State of the class with that revision. */
  readonly state: "available" | "moving" | "failed";
  /** A revision that cannot be rendered for this class. */
  readonly rejects?: string;
}

/** Classes that may use the current revision now, and those that wait. */
export interface RollOut {
  readonly mayUpdate: ReadonlySet<string>;
  readonly waiting: readonly string[];
  /** The class that failed with the current revision; the rollout stops until it is fixed. */
  readonly haltedBy?: string;
}

/**
 * Rolls out a new revision of a template to a few classes at a time. Classes that already have the revision, or none,
 * may always use it. Of the others, at most `maxParallel` are updated at once, in the order of their keys. If a class
 * fails with the new revision or cannot be rendered with it, the rollout stops, and the remaining classes keep the
 * children of the old revision.
 */
export function rollOut(
  users: readonly TemplateUser[],
  revision: string,
  maxParallel: number = parallelFor(users, revision),
): RollOut {
  const inOrder = users.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const isNotStale = (user: TemplateUser): boolean => user.revision === undefined || user.revision === revision;
  const stale = inOrder.filter((user) => !isNotStale(user));
  const moved = inOrder.filter((user) => user.revision === revision);
  const refusing = stale.filter(({ rejects }) => rejects === revision);
  const failed = moved.find(({ state }) => state === "failed") ?? refusing[0];
  const moving = moved.filter(({ state }) => state === "moving").length;
  const free = failed === undefined ? Math.max(0, maxParallel - moving) : 0;
  const next = new Set([...stale.slice(0, free), ...refusing]);
  const waiting = stale.filter((user) => !next.has(user)).map(({ key }) => key);
  return {
    mayUpdate: new Set([...users.filter(isNotStale), ...next].map(({ key }) => key)),
    waiting,
    ...(failed === undefined || waiting.length === 0 ? {} : { haltedBy: failed.key }),
  };
}

/** One class first; after a success, a tenth of all classes at a time. */
function parallelFor(users: readonly TemplateUser[], revision: string): number {
  const proven = users.some((user) => user.revision === revision && user.state === "available");
  return proven ? Math.ceil(users.length / 10) : 1;
}
