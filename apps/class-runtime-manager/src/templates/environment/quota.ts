import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isJsonObject,
  multiplyQuantity,
  parseQuantity,
  subtractQuantities,
  ZERO_QUANTITY,
  type KubeObject,
  type Quantity,
} from "@oaas/kube-core";
import { ENFORCED_MIN_SCALE_ANNOTATION } from "../../rendering/manifests/labels.ts";

/** Resources that a class, or all classes of an environment, request. */
export interface Demand {
  readonly classes: number;
  readonly cpu: Quantity;
  readonly memory: Quantity;
  readonly storage: Quantity;
}

type Quotas = EnvironmentConfigSpec["quotas"];
type Json = Readonly<Record<string, unknown>>;

export const NO_DEMAND: Demand = {
  classes: 0,
  cpu: { nano: 0n, format: "DecimalSI" },
  memory: { nano: 0n, format: "BinarySI" },
  storage: { nano: 0n, format: "BinarySI" },
};

/**
 * Sums the requests of the children of a class at minimum scale, with the minimum of an autoscaler if there is one. One
 * pod per node counts as one pod, since the nodes are unknown; so does a workload that scales to zero.
 */
export function demandOf(children: readonly KubeObject[]): Demand {
  const lowest = new Map(
    children
      .filter(({ kind }) => kind === "HorizontalPodAutoscaler" || kind === "ScaledObject")
      .map((autoscaler) => {
        const { scaleTargetRef, minReplicas, minReplicaCount } = jsonOf(memberOf(autoscaler, "spec"));
        const { kind = "Deployment", name } = jsonOf(scaleTargetRef);
        // KEDA scales to zero without a minimum.
        const least = minReplicas ?? (typeof minReplicaCount === "number" ? Math.max(1, minReplicaCount) : undefined);
        return [`${String(kind)} ${String(name)}`, least] as const;
      }),
  );
  return children.reduce<Demand>(
    (sum, child) => addDemand(sum, demandOfChild(child, lowest.get(`${child.kind} ${child.metadata.name}`))),
    { ...NO_DEMAND, classes: 1 },
  );
}

export function addDemand(a: Demand, b: Demand): Demand {
  return {
    classes: a.classes + b.classes,
    cpu: addQuantities(a.cpu, b.cpu),
    memory: addQuantities(a.memory, b.memory),
    storage: addQuantities(a.storage, b.storage),
  };
}

export function subtractDemand(a: Demand, b: Demand): Demand {
  return {
    classes: a.classes - b.classes,
    cpu: subtractQuantities(a.cpu, b.cpu),
    memory: subtractQuantities(a.memory, b.memory),
    storage: subtractQuantities(a.storage, b.storage),
  };
}

/** Whether the first demand is at most the second in every resource. */
export function isWithin(requested: Demand, held: Demand): boolean {
  return (
    requested.classes <= held.classes &&
    AMOUNTS.every((amount) => compareQuantities(requested[amount], held[amount]) <= 0)
  );
}

const AMOUNTS = ["cpu", "memory", "storage"] as const;

function demandOfChild(child: KubeObject, lowest: unknown): Demand {
  const spec = jsonOf(memberOf(child, "spec"));
  const template = jsonOf(spec["template"]);
  const pod = jsonOf(template["spec"]);
  const claims = child.kind === "PersistentVolumeClaim" ? [spec] : [];
  const stated = [lowest, spec["replicas"], spec["parallelism"], knativeMinScale(child, template)];
  const replicas = stated.find((count) => typeof count === "number" && Number.isSafeInteger(count)) ?? 1;
  const pods = child.kind === "Service" ? Math.max(1, replicas as number) : (replicas as number);
  return {
    classes: 0,
    cpu: multiplyQuantity(podRequest(pod, "cpu"), pods),
    memory: multiplyQuantity(podRequest(pod, "memory"), pods),
    storage: addQuantities(
      sumRequests(claims, "storage"),
      multiplyQuantity(sumRequests(claimsPerPod(spec, pod), "storage"), pods),
    ),
  };
}

function knativeMinScale({ metadata }: KubeObject, template: Json): number {
  const annotations = jsonOf(jsonOf(template["metadata"])["annotations"]);
  return Number(
    metadata.annotations?.[ENFORCED_MIN_SCALE_ANNOTATION] ??
      annotations["autoscaling.knative.dev/minScale"] ??
      annotations["autoscaling.knative.dev/min-scale"],
  );
}

function claimsPerPod(spec: Json, pod: Json): readonly Json[] {
  const ephemeral = listOf(pod["volumes"]).map((volume) => jsonOf(jsonOf(volume["ephemeral"])["volumeClaimTemplate"]));
  return [...listOf(spec["volumeClaimTemplates"]), ...ephemeral].map((claim) => jsonOf(claim["spec"]));
}

/**
 * The request of a pod as the scheduler counts it: its containers and sidecars together, or its largest init container,
 * or the resources of the pod.
 */
function podRequest(pod: Json, name: string): Quantity {
  const init = listOf(pod["initContainers"]);
  const isSidecar = ({ restartPolicy }: Json): boolean => restartPolicy === "Always";
  const running = sumRequests([...listOf(pod["containers"]), ...init.filter(isSidecar)], name);
  const others = [...init.filter((container) => !isSidecar(container)), pod].map((one) => sumRequests([one], name));
  return others.reduce((most, one) => (compareQuantities(one, most) > 0 ? one : most), running);
}

/** Kubernetes sets a missing request to the limit. */
function sumRequests(holders: readonly Json[], name: string): Quantity {
  return holders
    .map((holder) => jsonOf(holder["resources"]))
    .map(({ requests, limits }) => jsonOf(requests)[name] ?? jsonOf(limits)[name])
    .reduce<Quantity>((sum, amount) => addQuantities(sum, quantityFrom(amount)), ZERO_QUANTITY);
}

function quantityFrom(amount: unknown): Quantity {
  const parsed = typeof amount === "string" || typeof amount === "number" ? parseQuantity(amount) : undefined;
  return parsed?.ok === true ? parsed.value : ZERO_QUANTITY;
}

function memberOf(object: KubeObject, name: string): unknown {
  return (object as unknown as Json)[name];
}

function jsonOf(value: unknown): Json {
  return isJsonObject(value) ? value : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The demand of one class, checked against the quotas of its environment. */
export interface QuotaRequest {
  /** Usage of all classes of the environment, including this one. */
  readonly used: Demand;
  /** Usage of this class, which it never loses. */
  readonly held: Demand;
  readonly requested: Demand;
}

/** The parsed quotas of an environment. */
export type Limits = Readonly<Partial<Record<(typeof AMOUNTS)[number], Quantity>>> & { readonly classes?: number };

/** Parses quotas. */
export function limitsOf(quotas: Quotas): Limits {
  const amounts = AMOUNTS.flatMap((amount) => {
    const limit = quotas?.[amount];
    const parsed = limit === undefined ? undefined : parseQuantity(limit);
    return parsed?.ok === true ? [[amount, parsed.value] as const] : [];
  });
  return {
    ...Object.fromEntries(amounts),
    ...(quotas?.max_classes === undefined ? {} : { classes: quotas.max_classes }),
  };
}

/** Whether `checkQuotas` would return no violations. */
export function fitsQuota(limits: Limits, { used, held, requested }: QuotaRequest): boolean {
  const { classes: most } = limits;
  const grows = requested.classes - held.classes;
  if (most !== undefined && grows > 0 && used.classes + grows > most) return false;
  return AMOUNTS.every((amount) => {
    const limit = limits[amount];
    const more = requested[amount].nano - held[amount].nano;
    return limit === undefined || more <= 0n || used[amount].nano + more <= limit.nano;
  });
}

/** The quotas that a class would exceed. Only demand beyond its current usage can exceed one. */
export function checkQuotas(
  environment: string,
  quotas: Quotas,
  { used, held, requested }: QuotaRequest,
): readonly Violation[] {
  const others = subtractDemand(used, held);
  const total = addDemand(others, requested);
  const tooMany =
    quotas?.max_classes !== undefined && requested.classes > held.classes && total.classes > quotas.max_classes
      ? [
          quotaViolation(environment, "max_classes", {
            limit: quotas.max_classes,
            others: others.classes,
            requested: requested.classes,
          }),
        ]
      : [];
  const amounts = AMOUNTS.flatMap((amount) => {
    const limit = quotas?.[amount];
    const most = limit === undefined ? undefined : parseQuantity(limit);
    const grows = compareQuantities(requested[amount], held[amount]) > 0;
    if (limit === undefined || most?.ok !== true || !grows) return [];
    if (compareQuantities(total[amount], most.value) <= 0) return [];
    const numbers = { limit, others: formatQuantity(others[amount]), requested: formatQuantity(requested[amount]) };
    return [quotaViolation(environment, amount, numbers)];
  });
  return [...tooMany, ...amounts];
}

function quotaViolation(
  environment: string,
  field: string,
  { limit, others, requested }: Readonly<Record<"limit" | "others" | "requested", string | number>>,
): Violation {
  return {
    path: pathOf(ROOT_PATH, "target_environment"),
    message: `the class requests ${requested}, but other classes of environment "${environment}" use ${others} of ${limit} (quotas.${field})`,
    fix: `request less, delete another class, or raise quotas.${field} of the EnvironmentConfig`,
  };
}
