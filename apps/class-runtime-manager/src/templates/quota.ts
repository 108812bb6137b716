import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  multiplyQuantity,
  parseQuantity,
  type Quantity,
} from "@oaas/kube-core";
import type { Manifest } from "./template.ts";

/** What a class, or all classes of an environment, ask for. */
export interface Demand {
  readonly classes: number;
  readonly cpu: Quantity;
  readonly memory: Quantity;
  readonly storage: Quantity;
}

type Quotas = EnvironmentConfigSpec["quotas"];
type Json = Readonly<Record<string, unknown>>;

/** Nothing. */
export const NO_DEMAND: Demand = {
  classes: 0,
  cpu: { nano: 0n, format: "DecimalSI" },
  memory: { nano: 0n, format: "BinarySI" },
  storage: { nano: 0n, format: "BinarySI" },
};

/**
 * What a rendered class requests when all its pods run at their lowest scale: an autoscaler's minimum where there is one.
 * A pod per node counts as one, since the nodes are not known here.
 */
export function demandOf(children: readonly Manifest[]): Demand {
  const lowest = new Map(
    children
      .filter(({ kind }) => kind === "HorizontalPodAutoscaler")
      .map((autoscaler) => [autoscaler.metadata.name, (autoscaler["spec"] as Json)["minReplicas"] as number]),
  );
  return children.reduce<Demand>(
    (sum, child) => addDemand(sum, demandOfChild(child, lowest.get(child.metadata.name))),
    {
      ...NO_DEMAND,
      classes: 1,
    },
  );
}

/** The sum of two demands. */
export function addDemand(a: Demand, b: Demand): Demand {
  return {
    classes: a.classes + b.classes,
    cpu: addQuantities(a.cpu, b.cpu),
    memory: addQuantities(a.memory, b.memory),
    storage: addQuantities(a.storage, b.storage),
  };
}

function demandOfChild(child: Manifest, lowest: number | undefined): Demand {
  const spec = (child["spec"] ?? {}) as Json;
  const pod = ((spec["template"] as Json | undefined)?.["spec"] ?? {}) as Json;
  const containers = (pod["containers"] ?? []) as readonly Json[];
  const claims = (spec["volumeClaimTemplates"] ?? []) as readonly Json[];
  const stated = spec["replicas"] ?? spec["parallelism"];
  const replicas = typeof stated === "number" ? stated : (lowest ?? 1);
  const requested = (holders: readonly Json[], name: string): Quantity =>
    holders
      .map((holder) => ((holder["resources"] as Json | undefined)?.["requests"] as Json | undefined)?.[name])
      .reduce<Quantity>((sum, amount) => addQuantities(sum, quantityFrom(amount)), { nano: 0n, format: "DecimalSI" });
  return {
    classes: 0,
    cpu: multiplyQuantity(requested(containers, "cpu"), replicas),
    memory: multiplyQuantity(requested(containers, "memory"), replicas),
    storage: multiplyQuantity(
      requested(
        claims.map((claim) => claim["spec"] as Json),
        "storage",
      ),
      replicas,
    ),
  };
}

function quantityFrom(amount: unknown): Quantity {
  const parsed = typeof amount === "string" || typeof amount === "number" ? parseQuantity(amount) : undefined;
  return parsed?.ok === true ? parsed.value : { nano: 0n, format: "DecimalSI" };
}

/** Which quotas of an environment a class breaks, given what its other classes ask for. */
export function checkQuotas(quotas: Quotas, others: Demand, own: Demand): readonly Violation[] {
  const total = addDemand(others, own);
  const tooMany =
    quotas?.max_classes !== undefined && total.classes > quotas.max_classes
      ? [broken("max_classes", `${total.classes} classes`, String(quotas.max_classes))]
      : [];
  const amounts = (["cpu", "memory", "storage"] as const).flatMap((resource) => {
    const limit = quotas?.[resource];
    const most = limit === undefined ? undefined : parseQuantity(limit);
    if (limit === undefined || most?.ok !== true || compareQuantities(total[resource], most.value) <= 0) return [];
    return [broken(resource, `${formatQuantity(total[resource])} of ${resource}`, limit)];
  });
  return [...tooMany, ...amounts];
}

function broken(field: string, asked: string, limit: string): Violation {
  return {
    path: pathOf(ROOT_PATH, "target_environment"),
    message: `with this class the environment would hold ${asked}; its quota is ${limit}`,
    fix: `ask for less, or raise quotas.${field} of the environment`,
  };
}
