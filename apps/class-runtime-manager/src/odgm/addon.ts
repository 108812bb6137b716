import { ok } from "@oaas/foundation";
import type { Addon } from "../rendering/addon.ts";
import { runtimeOf } from "../rendering/plan/class-plan.ts";
import { renderDisruptionBudget } from "../rendering/manifests/disruption-budget.ts";
import { componentLabels, selectorLabels } from "../rendering/manifests/labels.ts";
import { renderNetworkPolicy, hasNetworkPolicy } from "../rendering/manifests/network-policy.ts";
import type { Manifest, RenderedOdgm } from "../rendering/model/rendered.ts";
import { workloadRef } from "../rendering/workloads/function-children.ts";
import { renderOdgmConfigMap } from "./manifests/service-and-config.ts";
import { functionOdgmEnv, waitAddress } from "./manifests/env.ts";
import { renderOdgmPodsService, renderOdgmService } from "./manifests/service-and-config.ts";
import { CONFIG_PATH, CONFIG_VOLUME, odgmImageOf, odgmWorkloads } from "./manifests/workload.ts";
import { ODGM_PORT, planOdgm, ZENOH_PORT, type OdgmPlan } from "./plan/odgm-plan.ts";

/** The state store (ODGM) of a class, in its own pods. */
export const odgmAddon: Addon = {
  id: "odgm",
  isImplied: ({ spec }) =>
    spec.state_spec !== undefined ||
    spec.odgm_config !== undefined ||
    (spec.functions ?? []).some((fn) => runtimeOf(fn) === "odgm"),
  isDisabled: ({ spec }) => spec.odgm_config?.enabled === false,
  unavailableReason: (input) => {
    if (!input.cluster.features.odgm) return "the state store is disabled in this cluster (OPRC_CRM_FEATURES_ODGM)";
    if (odgmImageOf(input) !== undefined) return undefined;
    return "the state store has no image; set OPRC_CRM_TEMPLATES_ODGM_IMAGE of the manager, or images.odgm of the EnvironmentConfig";
  },
  render(classPlan) {
    const { input, policy } = classPlan;
    const plan = planOdgm(classPlan);
    const app = plan.names.workload;
    const labels = componentLabels(input, app, "odgm");
    const selector = selectorLabels(input, app);
    const config = renderOdgmConfigMap(plan, labels);
    const workloads = odgmWorkloads(plan, { labels, selector, config });
    if (!workloads.ok) return workloads;
    const several = plan.nodes.ids.length > 1;
    const named = several || workloads.value.some(({ kind }) => kind === "StatefulSet");
    const budgeted = several && policy.disruptionBudget && input.cluster.capabilities.podDisruptionBudget;
    const guard = { name: app, labels, selector };
    return ok({
      children: [
        config,
        renderOdgmService(plan, labels, selector),
        ...(named ? [renderOdgmPodsService(plan, labels, selector)] : []),
        ...workloads.value,
        ...(budgeted ? [renderDisruptionBudget(input, guard)] : []),
        ...(hasNetworkPolicy(input) ? [renderNetworkPolicy(input, { ...guard, ports: [ODGM_PORT, ZENOH_PORT] })] : []),
      ],
      functionEnv: (fn) => functionOdgmEnv(plan, fn),
      waitFor: waitAddress(plan),
      functionFiles: { volume: CONFIG_VOLUME, configMap: plan.names.config, mountPath: CONFIG_PATH },
      odgm: renderedOdgm(plan, workloads.value),
      hosts: ["odgm"],
      warnings: plan.warnings,
    });
  },
};

function renderedOdgm(plan: OdgmPlan, workloads: readonly Manifest[]): RenderedOdgm {
  return {
    workloads: workloads.map(workloadRef),
    service: plan.service,
    replicas: plan.nodes.ids.length,
    clusterId: plan.clusterId,
    shardType: plan.collections[0]?.shardType ?? "none",
    collections: plan.collections.map(({ name, partitionCount, replicaCount, shardType }) => ({
      name,
      partitionCount,
      replicaCount,
      shardType,
    })),
  };
}
