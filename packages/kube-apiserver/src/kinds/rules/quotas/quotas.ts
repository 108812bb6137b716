import { addQuantities, formatQuantity, type JsonObject, type KubeObject, type Quantity } from "@oaas/kube-core";
import { checkQuotas, computeQuotaUsage } from "../../../controllers/failures/quota.ts";
import type { Quota } from "../../../controllers/objects/typed.ts";
import type { AdmissionContext } from "../../kind.ts";
import { objectAt, textAt } from "../../json-access.ts";

const QUOTAS = { group: "", resource: "resourcequotas" };

/**
 * Why an object would exceed a quota of its namespace. Counted against current objects, because a quota's status may
 * be stale. Only objects of a kind use its quota.
 */
export function quotaError(
  kind: { readonly group: string; readonly resource: string },
  object: JsonObject,
  context: Pick<AdmissionContext, "objects">,
  live?: JsonObject,
): string | undefined {
  const namespace = textAt(objectAt(object, "metadata"), "namespace");
  if (namespace === "") return undefined;
  const quotas = context.objects(QUOTAS, namespace);
  if (quotas.length === 0) return undefined;
  const used: Record<string, Quantity> = {};
  for (const existing of context.objects(kind, namespace)) {
    for (const [name, amount] of Object.entries(computeQuotaUsage(kind, asKubeObject(existing)))) {
      const before = used[name];
      used[name] = before === undefined ? amount : addQuantities(before, amount);
    }
  }
  const texts = Object.fromEntries(Object.entries(used).map(([name, amount]) => [name, formatQuantity(amount)]));
  const withUsage = quotas.map(
    (quota) => ({ ...quota, status: { hard: objectAt(quota, "spec", "hard"), used: texts } }) as unknown as Quota,
  );
  const status = checkQuotas(kind, asKubeObject(object), withUsage, live && asKubeObject(live));
  return status?.message?.split(" is forbidden: ")[1];
}

function asKubeObject(object: JsonObject): KubeObject {
  return object as unknown as KubeObject;
}
