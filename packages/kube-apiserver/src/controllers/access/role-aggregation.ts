import {
  canonicalJson,
  equalJson,
  type JsonObject,
  type KubeObject,
  type LabelSelector,
  selectsLabels,
} from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import { createDecision, SETTLED, update } from "../loop/decision.ts";
import type { ClusterView } from "../objects/cluster-view.ts";
import { CLUSTER_ROLES, nameOfKey, objectKey } from "../objects/resources.ts";

interface ClusterRole extends KubeObject {
  readonly rules?: readonly JsonObject[] | null;
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] };
}

/** Writes the rules of aggregated roles (`view`, `edit`, `admin`) from the roles that their selectors match. */
export function roleAggregation(): Controller {
  return {
    name: "role-aggregation",
    reporter: "clusterrole-aggregation-controller",
    writer: "clusterrole-aggregation-controller",
    // Any role may be a source of aggregation.
    watches: [{ kind: CLUSTER_ROLES, keys: (_object, view) => listAggregatingRoles(view) }],
    decide(key, { view }) {
      const role = view.get<ClusterRole>(CLUSTER_ROLES, "", nameOfKey(key).name);
      if (!role?.aggregationRule || role.metadata.deletionTimestamp !== undefined) return SETTLED;
      const rules = aggregateRules(role, view);
      return equalJson(rules, role.rules ?? []) ? SETTLED : createDecision([update(CLUSTER_ROLES, { ...role, rules })]);
    },
  };
}

function listAggregatingRoles(view: ClusterView): string[] {
  return view
    .list<ClusterRole>(CLUSTER_ROLES)
    .filter(({ aggregationRule }) => aggregationRule !== undefined)
    .map(({ metadata }) => objectKey("", metadata.name));
}

/** Rules by selector, then by role name, each once. */
function aggregateRules({ metadata, aggregationRule }: ClusterRole, view: ClusterView): JsonObject[] {
  const others = view
    .list<ClusterRole>(CLUSTER_ROLES)
    .filter((other) => other.metadata.name !== metadata.name)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules = new Map<string, JsonObject>();
  for (const selector of aggregationRule?.clusterRoleSelectors ?? []) {
    for (const other of others.filter(({ metadata: { labels } }) => selectsLabels(selector, labels))) {
      for (const rule of other.rules ?? []) {
        const text = canonicalJson(rule);
        if (!rules.has(text)) rules.set(text, rule);
      }
    }
  }
  return [...rules.values()];
}
