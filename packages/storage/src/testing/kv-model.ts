import { unreachable } from "@oaas/foundation";
import { isSatisfied } from "../port/transaction.ts";
import type { ChangeEvent, Condition, Entry, Transaction } from "../port/key-value-store.ts";

/** A transaction with symbolic conditions, because revisions are known only when it runs. */
export interface ModelStep {
  readonly conditions: readonly { readonly key: string; readonly state: ConditionState }[];
  readonly writes: Transaction["writes"];
}

export type ConditionState = "absent" | "present" | "unchanged" | "changed" | "same-incarnation" | "other-incarnation";

/** Reference model of the port: one map per revision. */
export class KeyValueModel {
  readonly log: { readonly revision: number; readonly events: readonly ChangeEvent[] }[] = [];
  readonly #states: { readonly revision: number; readonly state: ReadonlyMap<string, Entry> }[];

  constructor(revision: number) {
    this.#states = [{ revision, state: new Map() }];
  }

  get revision(): number {
    return this.#states.at(-1)?.revision as number;
  }

  get revisions(): readonly number[] {
    return this.#states.map(({ revision }) => revision);
  }

  /** Returns the entries at a revision in UTF-8 order. */
  entries(revision = this.revision): Entry[] {
    const state = this.#states.findLast((known) => known.revision <= revision)?.state ?? new Map<string, Entry>();
    return [...state.values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  /** Returns the transaction with current revisions. */
  resolve(step: ModelStep): Transaction {
    return { conditions: step.conditions.map(({ key, state }) => this.#condition(key, state)), writes: step.writes };
  }

  /**
   * Returns whether the conditions are satisfied; if so, applies the transaction as `revision` if it changes anything.
   */
  apply(transaction: Transaction, revision: number): "conflict" | "changed" | "unchanged" {
    const state = new Map(this.#states.at(-1)?.state);
    if (!(transaction.conditions ?? []).every((condition) => isSatisfied(condition, state.get(condition.key)))) {
      return "conflict";
    }
    const events: ChangeEvent[] = [];
    for (const write of transaction.writes) {
      if (write.op === "put") {
        const previous = state.get(write.key);
        const entry: Entry = {
          key: write.key,
          value: write.value,
          createRevision: previous?.createRevision ?? revision,
          modRevision: revision,
          version: (previous?.version ?? 0) + 1,
        };
        state.set(write.key, entry);
        events.push(previous === undefined ? { type: "put", entry } : { type: "put", entry, previous });
        continue;
      }
      for (const previous of this.entries()) {
        const hit = write.op === "delete" ? previous.key === write.key : previous.key.startsWith(write.prefix);
        if (hit && state.delete(previous.key)) {
          events.push({ type: "delete", key: previous.key, revision, previous });
        }
      }
    }
    if (events.length === 0) return "unchanged";
    this.#states.push({ revision, state });
    this.log.push({ revision, events });
    return "changed";
  }

  #condition(key: string, state: ConditionState): Condition {
    const entry = this.#states.at(-1)?.state.get(key);
    switch (state) {
      case "absent":
      case "present":
        return { key, test: state };
      case "unchanged":
        return { key, test: "mod-revision", revision: entry?.modRevision ?? 1 };
      case "changed":
        return { key, test: "mod-revision", revision: (entry?.modRevision ?? 1) + 1 };
      case "same-incarnation":
        return { key, test: "create-revision", revision: entry?.createRevision ?? 1 };
      case "other-incarnation":
        return { key, test: "create-revision", revision: (entry?.createRevision ?? 1) + 1 };
      default:
        return unreachable(state);
    }
  }
}
