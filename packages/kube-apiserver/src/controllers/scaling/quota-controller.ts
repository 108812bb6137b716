import { equalJson, formatQuantity, type KubeObject, ZERO_QUANTITY } from "@oaas/kube-core";
import type { ObjectChange } from "../cluster-objects.ts";
import { computeUsage } from "../failures/quota.ts";
import type { Controller } from "../loop/controller.ts";
import { createDecision, SETTLED, updateStatus } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { keyOf, nameOfKey, QUOTAS } from "../objects/resources.ts";
import type { Quota } from "../objects/typed.ts";

/** Maintains `status.used` of quotas. */
export function quotaController(): Controller {
  return {
    name: "quotas",
    reporter: "resourcequota-controller",
    writer: "kube-controller-manager",
    watches: [watchOwn(QUOTAS)],
    watchesAll: { changed: quotasOf, initial: () => [] },
    decide(key, { view }) {
      const { namespace, name } = nameOfKey(key);
      const quota = view.get<Quota>(QUOTAS, namespace, name);
      if (!quota || quota.metadata.deletionTimestamp !== undefined) return SETTLED;
      const hard = quota.spec?.hard ?? {};
      const usage = computeUsage(namespace, Object.keys(hard), view);
      const used = Object.fromEntries(
        Object.keys(hard).map((resource) => [resource, formatQuantity(usage[resource] ?? ZERO_QUANTITY)]),
      );
      const status = { hard, used };
      return equalJson(status, quota.status ?? {})
        ? SETTLED
        : createDecision([updateStatus(QUOTAS, { ...quota, status })]);
    },
  };
}

/** Only creations, deletions and pod changes affect usage (a finished pod uses less). */
function quotasOf({ kind, object, previous }: ObjectChange, view: ClusterView): string[] {
  const isOther = object === undefined || previous === undefined || kind.resource === "pods";
  const { namespace } = typed<KubeObject>(object ?? previous ?? {}).metadata;
  if (!isOther || namespace === undefined || kind.resource === "events") return [];
  return view.list<Quota>(QUOTAS, namespace).map(keyOf);
}
