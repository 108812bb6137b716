import type { DeploymentTemplateSpec } from "@oaas/contracts/crd";
import { notEligible, scoreOf, siteOf, type Point } from "../selection/score.ts";
import { classRequirements } from "../../rendering/plan/requirements.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { TemplateScore } from "../template.ts";

type Criteria = NonNullable<DeploymentTemplateSpec["selection_criteria"]>;
type Capabilities = NonNullable<DeploymentTemplateSpec["nfr_capabilities"]>;

/** Matching criteria outweigh the score of any built-in template. */
const MATCHED = 1_000_000;
const PER_CRITERION = 1000;
/** Points for a capability that the class needs. */
const CAPABILITY = 30;

/** Scores a user template: compares its capabilities with the requirements, then its criteria. */
export function scoreTemplate(input: RenderInput, spec: DeploymentTemplateSpec): TemplateScore {
  const { cluster } = input;
  if (spec.template_type === "Knative" && !(cluster.features.knative && cluster.capabilities.knative)) {
    return notEligible("it needs Knative, which this cluster does not have");
  }
  const short = unmetRequirement(input, spec.nfr_capabilities);
  if (short !== undefined) return notEligible(short);
  const criteria = spec.selection_criteria;
  if (criteria === undefined) return scoreOf([0, "has no selection_criteria: selected only by name"]);
  const verdicts = verdictsOf(input, criteria);
  const failed = verdicts.find(({ holds }) => !holds);
  if (failed !== undefined) return scoreOf([-MATCHED, `selection_criteria do not match: ${failed.what}`]);
  return scoreOf(
    [MATCHED, "selection_criteria match"],
    ...verdicts.map(({ what }): Point => [PER_CRITERION, what]),
    criteria.priority === 0 ? undefined : [criteria.priority, "priority"],
    ...capabilityPoints(input, spec.nfr_capabilities),
  );
}

/** Points for the capabilities that the class needs. */
function capabilityPoints({ spec, environment }: RenderInput, can: Capabilities | undefined): readonly Point[] {
  const scales = (spec.functions ?? []).some((fn) => (fn.provision_config?.max_scale ?? 1) > 1);
  const { latencyMs } = classRequirements(spec, environment);
  const worst = can?.max_latency;
  return [
    ...(can?.auto_scaling === true && scales ? [[CAPABILITY, "autoscaling"] as const] : []),
    ...(worst !== undefined && latencyMs !== undefined && worst <= latencyMs
      ? [[CAPABILITY, `answers within ${worst} ms under load, for latency of ${latencyMs} ms`] as const]
      : []),
    ...(can?.persistent_storage === true && spec.resource_allocation?.storage_request !== undefined
      ? [[CAPABILITY, "volumes for the allocated storage"] as const]
      : []),
    ...(can?.network_policies === true && environment?.spec.network_policy?.enabled === true
      ? [[CAPABILITY, `network policies for environment ${environment.name}`] as const]
      : []),
  ];
}

/** The first requirement that the template cannot meet. */
function unmetRequirement({ spec, environment }: RenderInput, can: Capabilities | undefined): string | undefined {
  const demand = classRequirements(spec, environment);
  if (can?.max_throughput !== undefined && (demand.throughputRps ?? 0) > can.max_throughput) {
    return `it sustains ${can.max_throughput} requests per second, but the class requires ${demand.throughputRps}`;
  }
  if (can?.min_latency !== undefined && demand.latencyMs !== undefined && demand.latencyMs < can.min_latency) {
    return `it answers within ${can.min_latency} ms at best, but the class requires ${demand.latencyMs}`;
  }
  if (can?.max_availability !== undefined && (demand.availability ?? 0) > can.max_availability) {
    return `it reaches availability ${can.max_availability}, but the class requires ${demand.availability}`;
  }
  return undefined;
}

interface Verdict {
  readonly what: string;
  readonly holds: boolean;
}

/** One verdict per stated criterion. */
function verdictsOf(input: RenderInput, criteria: Criteria): readonly Verdict[] {
  const { cluster, environment, owner, spec } = input;
  const demand = classRequirements(spec, environment);
  const rps = demand.throughputRps ?? 0;
  const kind = environment?.spec.kind ?? ({ dev: "dev", edge: "edge", full: "cloud" } as const)[siteOf(input).profile];
  const region = environment?.spec.region ?? cluster.flags.region;
  const stateful = spec.state_spec !== undefined || spec.odgm_config !== undefined;
  const verdict = (stated: unknown, holds: boolean, what: string): Verdict[] =>
    stated === undefined ? [] : [{ what, holds }];
  return [
    ...verdict(
      criteria.profiles,
      criteria.profiles?.some((profile) => profile.toLowerCase() === cluster.profile) === true,
      `profile ${cluster.profile}`,
    ),
    ...verdict(criteria.environments, criteria.environments?.includes(kind) === true, `environment of kind ${kind}`),
    ...verdict(
      criteria.regions,
      region !== undefined && criteria.regions?.includes(region) === true,
      region === undefined ? "no region" : `region ${region}`,
    ),
    ...Object.entries(criteria.match_labels ?? {}).map(([name, value]): Verdict => ({
      what: `label ${name}=${value}`,
      holds: owner.labels?.[name] === value,
    })),
    ...verdict(criteria.min_throughput_rps, rps >= (criteria.min_throughput_rps ?? 0), `${rps} requests per second`),
    ...verdict(criteria.max_throughput_rps, rps <= (criteria.max_throughput_rps ?? 0), `${rps} requests per second`),
    ...verdict(
      criteria.max_latency_ms,
      demand.latencyMs !== undefined && demand.latencyMs <= (criteria.max_latency_ms ?? 0),
      `latency ${demand.latencyMs === undefined ? "not required" : `${demand.latencyMs} ms`}`,
    ),
    ...verdict(
      criteria.min_availability,
      (demand.availability ?? 0) >= (criteria.min_availability ?? 0),
      `availability ${demand.availability ?? "not required"}`,
    ),
    ...verdict(
      criteria.consistency,
      demand.consistency !== undefined && criteria.consistency?.includes(demand.consistency) === true,
      `consistency ${demand.consistency ?? "not required"}`,
    ),
    ...verdict(criteria.stateful, criteria.stateful === stateful, stateful ? "with state" : "without state"),
  ];
}
