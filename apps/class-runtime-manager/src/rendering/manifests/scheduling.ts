import { isValidName } from "@oaas/kube-core";
import type { Policy, Spread } from "../plan/policy.ts";
import type { RenderInput } from "../model/render-input.ts";
import type { Labels } from "./labels.ts";

const HOST = "kubernetes.io/hostname";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";

interface Placement {
  readonly input: RenderInput;
  readonly policy: Policy;
  readonly selector: Labels;
  readonly spread: Spread;
  /** Where the function may run, as its package says: a region or zone that is preferred. */
  readonly location?: string | undefined;
  /** Label by which one roll-out's pods are told from the next one's, where the workload has one. */
  readonly revisionLabel?: string | undefined;
}

/** Where pods go: the environment's nodes, apart from each other as far as the template wants, near their location. */
export function renderScheduling(placement: Placement): Readonly<Record<string, unknown>> {
  const environment = placement.input.environment?.spec;
  return {
    nodeSelector: environment?.nodeSelector,
    tolerations: tolerations(placement),
    affinity: affinity(placement),
    topologySpreadConstraints: spreadConstraints(placement),
    priorityClassName: environment?.priorityClassName,
  };
}

/** Nodes at the edge come and go: moving their pods at once would cost more than waiting. */
function tolerations({ input, policy }: Placement): unknown {
  const stated = input.environment?.spec.tolerations ?? [];
  const patience = policy.nodeLossTolerationSeconds;
  const patient = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
    .filter((key) => patience !== undefined && !stated.some((one) => one.key === key))
    .map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: patience }));
  return stated.length + patient.length === 0 ? undefined : [...stated, ...patient];
}

function affinity({ selector, spread, location }: Placement): unknown {
  const apart = spread !== "none";
  const near = location !== undefined && location !== "" && isValidName("label-value", location);
  if (!apart && !near) return undefined;
  return {
    nodeAffinity: near
      ? {
          preferredDuringSchedulingIgnoredDuringExecution: [REGION, ZONE].map((key) => ({
            weight: 50,
            preference: { matchExpressions: [{ key, operator: "In", values: [location] }] },
          })),
        }
      : undefined,
    podAntiAffinity: apart
      ? {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: { topologyKey: HOST, labelSelector: { matchLabels: selector } } },
          ],
        }
      : undefined,
  };
}

/** Even over nodes where the template insists (a cluster of one node still takes them all), over zones when possible. */
function spreadConstraints({ selector, spread, revisionLabel }: Placement): unknown {
  if (spread === "none") return undefined;
  const constraint = (topologyKey: string, whenUnsatisfiable: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable,
    labelSelector: { matchLabels: selector },
    matchLabelKeys: revisionLabel === undefined ? undefined : [revisionLabel],
  });
  return [constraint(HOST, spread === "even" ? "DoNotSchedule" : "ScheduleAnyway"), constraint(ZONE, "ScheduleAnyway")];
}
