/** One class that is rendered with a template. */
export interface TemplateUser {
  /** `namespace/name`, by which turns are given. */
  readonly key: string;
  /** Revision its children were last rendered with; absent before the first time. */
  readonly revision?: string;
  /** How it fares with that revision. */
  readonly state: "available" | "moving" | "failed";
  /** A revision that it was given and could not be rendered with. */
  readonly rejects?: string;
}

/** Who may be rendered with the current revision now, and why the others wait. */
export interface RollOut {
  readonly mayUpdate: ReadonlySet<string>;
  readonly waiting: readonly string[];
  /** The class that failed with the current revision; nobody else moves until it is mended. */
  readonly haltedBy?: string;
}

/**
 * Lets classes move to an edited template a few at a time. Those that already have the revision, and those that have none
 * yet, always may; of the others as many as keep the number of moving ones within `maxParallel`, in the order of their
 * keys. A class that fails with the new revision, or cannot even be rendered with it, stops the rest where they are: their
 * children stay as the old revision made them.
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

/** The first class goes alone; once one is well with the revision, a tenth of all at a time. */
function parallelFor(users: readonly TemplateUser[], revision: string): number {
  const proven = users.some((user) => user.revision === revision && user.state === "available");
  return proven ? Math.ceil(users.length / 10) : 1;
}
