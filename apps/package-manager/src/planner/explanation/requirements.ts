import { ConsistencyModel, RequirementUse, type NfrRequirements, type StatedRequirement } from "@oaas/models";
import type { DeploymentPlan, SharedSpec } from "../plan-types.ts";
import { formatShare } from "./format.ts";

type Uses = Readonly<Pick<StatedRequirement, "use" | "useText">>;

interface RequirementField {
  readonly requirement: string;
  readonly text: (value: number) => string;
  readonly uses: (shared: SharedSpec) => Uses;
}

/** Each field of the requirements, with its use. The compiler demands an entry for a new field. */
const FIELDS: Readonly<Record<keyof NfrRequirements, RequirementField>> = {
  availability: {
    requirement: "availability",
    text: (value) => `availability ${formatShare(value)}`,
    uses: () => ({ use: RequirementUse.sizing, useText: "decides the number of replicas" }),
  },
  minThroughputRps: {
    requirement: "min_throughput_rps",
    text: (value) => `throughput ${value} requests per second`,
    uses: ({ state }) => ({
      use: RequirementUse.sizing,
      useText: `decides the scale of functions${state === undefined ? "" : " and the partitions of a new state store"}`,
    }),
  },
  maxLatencyMs: {
    requirement: "max_latency_ms",
    text: (value) => `latency ${value} ms`,
    uses: () => ({ use: RequirementUse.recorded, useText: "not used for sizing; clusters with metrics measure it" }),
  },
  cpuUtilizationTarget: {
    requirement: "cpu_utilization_target",
    text: (value) => `CPU utilization ${formatShare(value)}`,
    uses: () => ({ use: RequirementUse.configuration, useText: "target of the autoscaler" }),
  },
};

/** The requirements that a deployment states, of the class first, then those that functions state themselves. */
export function statedRequirements({ shared }: Pick<DeploymentPlan, "shared">): readonly StatedRequirement[] {
  const ofFunctions = shared.functions.flatMap(({ functionKey, nfr }) =>
    requirementsOf(functionKey, ownRequirements(nfr, shared.nfr), shared),
  );
  return [...requirementsOf("", shared.nfr, shared), ...consistencyOf(shared), ...ofFunctions];
}

function requirementsOf(component: string, nfr: NfrRequirements, shared: SharedSpec): readonly StatedRequirement[] {
  return (Object.keys(FIELDS) as (keyof NfrRequirements)[]).flatMap((name) => {
    const value = nfr[name];
    if (value === undefined) return [];
    const { requirement, text, uses } = FIELDS[name];
    return [{ requirement, component, text: text(value), ...uses(shared) }];
  });
}

/** The requirements of a function that differ from those of the class. */
function ownRequirements(nfr: NfrRequirements, ofClass: NfrRequirements): NfrRequirements {
  return Object.fromEntries(
    Object.entries(nfr).filter(([name, value]) => value !== ofClass[name as keyof NfrRequirements]),
  );
}

function consistencyOf({ state }: SharedSpec): readonly StatedRequirement[] {
  const model = state?.consistencyModel ?? ConsistencyModel.none;
  if (model === ConsistencyModel.none) return [];
  const uses: Uses =
    model === ConsistencyModel.strong
      ? { use: RequirementUse.sizing, useText: "requires an odd number of at least 3 replicas and the shard type raft" }
      : { use: RequirementUse.configuration, useText: "considered when the shard type is chosen" };
  return [{ requirement: "consistency_model", component: "", text: `consistency ${model}`, ...uses }];
}

/** The use of a requirement in a few words. */
export function useSummary({ use }: Pick<StatedRequirement, "use">): string {
  switch (use) {
    case RequirementUse.sizing:
      return "used for sizing";
    case RequirementUse.configuration:
      return "used for configuration";
    case RequirementUse.recorded:
      return "recorded";
  }
}
