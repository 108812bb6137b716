import { err, ok } from "@oaas/foundation";
import type { Addon } from "../rendering/addon.ts";
import { runtimeOf } from "../rendering/plan/class-plan.ts";
import { renderDisruptionBudget } from "../rendering/manifests/disruption-budget.ts";
import { componentLabels, selectorLabels } from "../rendering/manifests/labels.ts";
import { renderNetworkPolicy, hasNetworkPolicy } from "../rendering/manifests/network-policy.ts";
import type { RenderInput } from "../rendering/model/render-input.ts";
import type { Manifest, RenderedOdgm } from "../rendering/model/rendered.ts";
import { workloadRef } from "../rendering/workloads/function-children.ts";
import { renderOdgmConfigMap } from "./manifests/service-and-config.ts";
import { functionOdgmEnv, waitAddress } from "./manifests/env.ts";
import { renderOdgmPodsService, renderOdgmService } from "./manifests/service-and-config.ts";
import { succeedWorkloads, type Succession } from "./manifests/succession.ts";
import { CONFIG_PATH, CONFIG_VOLUME, nodeGroups, odgmImageOf, odgmWorkloads } from "./manifests/workload.ts";
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
  isKept: ({ spec, storedLayout }) => storedLayout !== undefined && spec.odgm_config?.allow_layout_change !== true,
  render(classPlan, isSelected) {
    const { input, policy } = classPlan;
    const plan = planOdgm(classPlan, isSelected);
    if (plan.violations.length > 0) return err(plan.violations);
    const app = plan.names.workload;
    const labels = componentLabels(input, app, "odgm");
    const selector = selectorLabels(input, app);
    const groups = nodeGroups(plan);
    const workloads = odgmWorkloads(plan, groups, { labels, selector });
    if (!workloads.ok) return workloads;
    const succession = succeedWorkloads(input, workloads.value);
    const budgeted =
      plan.nodes.nodes.length > 1 && policy.disruptionBudget && input.cluster.capabilities.podDisruptionBudget;
    const guard = { name: app, labels, selector };
    return ok({
      children: [
        renderOdgmConfigMap(plan, groups, labels),
        renderOdgmService(plan, labels, selector),
        renderOdgmPodsService(plan, labels, selector),
        ...succession.applied,
        ...(budgeted ? [renderDisruptionBudget(input, guard)] : []),
        ...(hasNetworkPolicy(input) ? [renderStoreNetworkPolicy(input, guard)] : []),
      ],
      functionEnv: (fn) => functionOdgmEnv(plan, fn),
      waitFor: waitAddress(plan),
      functionFiles: { volume: CONFIG_VOLUME, configMap: plan.names.config, mountPath: CONFIG_PATH },
      odgm: renderedOdgm(plan, succession),
      hosts: ["odgm"],
      warnings: plan.warnings,
    });
  },
};

/** The manager checks the health of state stores and reads their objects, and routers connect to them. */
function renderStoreNetworkPolicy(input: RenderInput, guard: Parameters<typeof renderNetworkPolicy>[1]): Manifest {
  const { managerNamespace, routerNamespace } = input.cluster;
  const from = [managerNamespace, routerNamespace].flatMap((name) => name ?? []);
  return renderNetworkPolicy(input, { ...guard, ports: [ODGM_PORT, ZENOH_PORT], from });
}

function renderedOdgm(plan: OdgmPlan, { applied, held, replaced }: Succession): RenderedOdgm {
  const { collections, nodes } = plan.layout;
  return {
    workloads: [...applied, ...held].map(workloadRef),
    held: held.map(workloadRef),
    replaced: replaced.map(workloadRef),
    isRunning: plan.classPlan.input.storedLayout !== undefined,
    ...(plan.refusedLayout === undefined ? {} : { refusedLayout: plan.refusedLayout }),
    service: plan.service,
    replicas: nodes.length,
    clusterId: plan.clusterId,
    shardType: collections[0]?.shardType ?? "none",
    collections: collections.map(({ assignments: _assignments, ...collection }) => collection),
  };
}
