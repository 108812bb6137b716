import type {
  RestartDecision,
  RestartInput,
} from "../../../apps/class-runtime-manager/src/state-store/decide-restart.ts";
import type { MemberPod, RunningStore } from "../../../apps/class-runtime-manager/src/state-store/running-store.ts";
import type { PlanInput } from "../../../apps/package-manager/src/planner/plan-types.ts";
import type { NodeAddress, TurnDecision } from "../../../apps/package-manager/src/restarts/decide-turn.ts";

/** A defect that the property must find. */
export interface Mutant {
  readonly input?: (input: RestartInput) => RestartInput;
  readonly alsoRestarts?: (decision: RestartDecision, running: RunningStore) => readonly MemberPod[];
  readonly recreatesPods?: true;
  readonly plan?: (input: PlanInput) => PlanInput;
  readonly turn?: (decision: TurnDecision, waiting: readonly NodeAddress[]) => TurnDecision;
}

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  "a manager restarts a node without a turn": {
    input: (input) => {
      const here = new Set(input.members.map(({ nodeId }) => nodeId));
      const partitions = input.layout.partitions.map((one) => ({
        ...one,
        nodes: one.nodes.filter((id) => here.has(id)),
      }));
      const isShared = input.layout.partitions.some(({ nodes }) => nodes.some((id) => !here.has(id)));
      // Copies elsewhere are still counted: only the turn is missing.
      return isShared ? { ...input, allowRestart: true, layout: { partitions } } : input;
    },
  },
  "a manager restarts two nodes at once": {
    alsoRestarts: (decision, { members }) =>
      decision.kind === "restart"
        ? members
            .flatMap(({ nodeId, pod }) => (pod === undefined || nodeId === decision.nodeId ? [] : [pod]))
            .slice(0, 1)
        : [],
  },
  "a new pod template replaces all pods": { recreatesPods: true },
  "a manager does not wait until a node has copied its objects": {
    input: (input) => {
      if (input.reading === undefined) return input;
      const answers = input.reading.answers.map(({ behind: _behind, ...answer }) => answer);
      return { ...input, reading: { ...input.reading, answers } };
    },
  },
  "the planner changes the layout of a running class": {
    plan: (input) => ({
      ...input,
      deployment: {
        ...input.deployment,
        odgm: { collections: [], nodeIds: {}, ...input.deployment.odgm, allowLayoutChange: true },
      },
    }),
  },
  "a turn begins without a look at the other clusters": {
    turn: (decision, [node]) => {
      if (decision.action !== "wait") return decision;
      return node === undefined ? { action: "end" } : { action: "begin", node };
    },
  },
};
