import type { Kind, KindRules } from "./kind.ts";

/** What is special about the beginning and the end of objects of some built-in kinds. */
const LIFE_CYCLES: Readonly<Record<string, Partial<KindRules>>> = {
  // Dependents stay when nothing is said: from before there was garbage collection.
  "/replicationcontrollers": { orphansByDefault: true },
  "batch/jobs": { orphansByDefault: true },
  "/nodes": { keepsNewStatus: true },
  "/pods": { isGraceful: true },
};

/** Kinds with what their objects do at the beginning and the end of their lives. */
export function withLifeCycleRules(kinds: readonly Kind[]): readonly Kind[] {
  return kinds.map((kind) => {
    const own = LIFE_CYCLES[`${kind.group}/${kind.resource}`];
    return own === undefined ? kind : { ...kind, rules: { ...kind.rules, ...own } };
  });
}
