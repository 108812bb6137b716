/** One class that is rendered with a template. */
export interface TemplateUser {
  /** `namespace/name`, by which turns are given. */
  readonly key: string;
  /** Revision its children were last rendered with; absent before the first time. */
  readonly revision?: string;
  /** How it fares with that revision. */
  readonly state: "available" | "moving" | "failed";
}

/** Who may be rendered with the current revision now, and why the others wait. */
export interface RollOut {
  readonly mayMove: ReadonlySet<string>;
  readonly waiting: readonly string[];
  /** The class that failed with the current revision; nobody else moves until it is mended. */
  readonly haltedBy?: string;
}

/**
 * Lets classes move to an edited template a few at a time. Those that already have the revision, and those that have none
 * yet, always may; of the others as many as keep the number of moving ones within `maxParallel`, in the order of their
 * keys. A class that fails with the new revision stops the rest where they are: their children stay as the old revision
 * made them.
 */
export function rollOut(users: readonly TemplateUser[], revision: string, maxParallel: number): RollOut {
  const current = users.filter((user) => user.revision === undefined || user.revision === revision);
  const stale = users.filter((user) => !current.includes(user)).sort((a, b) => (a.key < b.key ? -1 : 1));
  const moved = current.filter((user) => user.revision === revision);
  const failed = moved.filter(({ state }) => state === "failed").sort((a, b) => (a.key < b.key ? -1 : 1))[0];
  const moving = moved.filter(({ state }) => state === "moving").length;
  const free = failed === undefined ? Math.max(0, maxParallel - moving) : 0;
  return {
    mayMove: new Set([...current, ...stale.slice(0, free)].map(({ key }) => key)),
    waiting: stale.slice(free).map(({ key }) => key),
    ...(failed === undefined || stale.length === 0 ? {} : { haltedBy: failed.key }),
  };
}
