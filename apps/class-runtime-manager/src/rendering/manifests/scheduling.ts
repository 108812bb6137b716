import { isValidName } from "@oaas/kube-core";
import type { PodSettings } from "@oaas/models";
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
  /** Preferred region or zone of the function. */
  readonly location?: string | undefined;
  /** Settings of the function that replace those of the template and the environment. */
  readonly stated?: Pick<PodSettings, "topologySpreadConstraints" | "priorityClassName"> | undefined;
  /** Label that distinguishes pods of different revisions, for workloads that have one. */
  readonly revisionLabel?: string | undefined;
}

/** Node selection and spreading of pods. */
export function renderScheduling(placement: Placement): Readonly<Record<string, unknown>> {
  const environment = placement.input.environment?.spec;
  return {
    nodeSelector: environment?.nodeSelector,
    tolerations: tolerations(placement),
    affinity: affinity(placement),
    topologySpreadConstraints: spreadConstraints(placement),
    priorityClassName: placement.stated?.priorityClassName ?? environment?.priorityClassName,
  };
}

/** Edge nodes disconnect often: pods stay bound to them longer than the default of Kubernetes. */
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

/** Spreads pods over nodes (strictly for `even`) and over zones when possible. */
function spreadConstraints({ selector, spread, stated, revisionLabel }: Placement): unknown {
  const matchLabelKeys = revisionLabel === undefined ? undefined : [revisionLabel];
  const constraints = stated?.topologySpreadConstraints;
  if (constraints !== undefined)
    return constraints.map((one) => ({ ...one, labelSelector: { matchLabels: selector }, matchLabelKeys }));
  if (spread === "none") return undefined;
  const constraint = (topologyKey: string, whenUnsatisfiable: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable,
    labelSelector: { matchLabels: selector },
    matchLabelKeys,
  });
  return [constraint(HOST, spread === "even" ? "DoNotSchedule" : "ScheduleAnyway"), constraint(ZONE, "ScheduleAnyway")];
}
