import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { RenderedAddon } from "../rendering/addon.ts";
import { selectAddons } from "./addons.ts";
import { planClass, type ClassPlan, type FunctionPlan, type PlanOptions } from "../rendering/plan/class-plan.ts";
import { functionEnv } from "../rendering/manifests/env.ts";
import { monitoringState, renderMonitors, type ScrapedWorkloads } from "../rendering/manifests/monitor.ts";
import { telemetryState } from "../rendering/manifests/telemetry-env.ts";
import type { Policy } from "../rendering/plan/policy.ts";
import type { Manifest, Rendered, RenderedFunction } from "../rendering/model/rendered.ts";
import type { RenderInput } from "../rendering/model/render-input.ts";
import type { FunctionChildren, WorkloadRenderer } from "../rendering/workloads/workload.ts";
import { readableFiles, type WorkloadContext } from "../rendering/manifests/pod.ts";

/** A planned class with rendered addons. */
export interface PreparedClass {
  readonly plan: ClassPlan;
  readonly parts: readonly RenderedAddon[];
  /** Input for rendering the workload of one function. */
  contextOf(fn: FunctionPlan): WorkloadContext;
}

/** Renders a class with one kind of workload and one policy: addons, then functions, then monitors. */
export function renderClass(
  input: RenderInput,
  policy: Policy,
  workload: WorkloadRenderer,
): Result<Rendered, readonly Violation[]> {
  const prepared = prepareClass(input, policy, workload);
  if (!prepared.ok) return prepared;
  return ok(assembleClass(prepared.value, (context) => workload.render(context), {}));
}

/** Plans the class and renders its addons, or returns all violations. */
export function prepareClass(
  input: RenderInput,
  policy: Policy,
  options: PlanOptions,
): Result<PreparedClass, readonly Violation[]> {
  const plan = planClass(input, policy, options);
  const addons = selectAddons(input);
  if (!plan.ok || !addons.ok) {
    return err([...(plan.ok ? [] : plan.error), ...(addons.ok ? [] : addons.error.violations)]);
  }
  const rendered = addons.value.map(({ addon, isSelected }) => addon.render(plan.value, isSelected));
  const violations = rendered.flatMap((part) => (part.ok ? [] : part.error));
  const parts = rendered.flatMap((part) => (part.ok ? [part.value] : []));
  violations.push(...unhostedFunctions(plan.value, parts, violations.length > 0));
  if (violations.length > 0) return err(violations);
  return ok({ plan: plan.value, parts, contextOf: (fn) => contextOf(plan.value, parts, fn) });
}

/** A module needs an addon that hosts it. */
function unhostedFunctions({ functions }: ClassPlan, parts: readonly RenderedAddon[], silent: boolean): Violation[] {
  if (silent) return [];
  return functions.flatMap((fn, index) =>
    fn.runtime !== "odgm" || parts.some(({ hosts }) => hosts.includes(fn.runtime))
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, "functions", index, "provision_config", "wasm_module_url"),
            message: "WASM functions run in the state store, which is disabled for the class",
            fix: 'add "odgm" to addons, or remove addons',
          },
        ],
  );
}

function contextOf(plan: ClassPlan, parts: readonly RenderedAddon[], fn: FunctionPlan): WorkloadContext {
  const ofAddons = Object.assign({}, ...parts.map((part) => part.functionEnv(fn))) as Record<string, string>;
  return {
    plan,
    fn,
    env: functionEnv(plan.input, fn, ofAddons),
    waitFor: parts.flatMap(({ waitFor }) => (waitFor === undefined ? [] : [waitFor])),
    files: readableFiles(
      fn,
      parts.flatMap(({ functionFiles: files }) => (files === undefined ? [] : [files])),
    ),
  };
}

/** Assembles a class in apply order. */
export function assembleClass(
  prepared: PreparedClass,
  make: (context: WorkloadContext) => FunctionChildren,
  extra: { readonly children?: readonly Manifest[]; readonly revision?: string },
): Rendered {
  const { plan, parts } = prepared;
  const { input, policy } = plan;
  const functions = plan.functions.map((fn): FunctionChildren =>
    fn.runtime === "workload" ? make(prepared.contextOf(fn)) : { children: [], rendered: withoutWorkload(fn) },
  );
  const odgm = parts.find((part) => part.odgm !== undefined)?.odgm;
  const scraped = scrapedWorkloads(functions, odgm !== undefined);
  const monitoring = monitoringState(input, scraped);
  const telemetry = telemetryState(input);
  return {
    template: policy.id,
    ...(extra.revision === undefined ? {} : { revision: extra.revision }),
    children: sortByKind([
      ...parts.flatMap((part) => part.children),
      ...functions.flatMap(({ children }) => children),
      ...(extra.children ?? []),
      ...renderMonitors(input, scraped),
    ]),
    functions: functions.map(({ rendered }) => rendered),
    ...(odgm === undefined ? {} : { odgm }),
    ...(input.cluster.routers.length === 0 ? {} : { routers: input.cluster.routers }),
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(monitoring === undefined ? {} : { monitoring }),
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

/** Jobs and modules have no Service, and serve no metrics of their own. */
function scrapedWorkloads(functions: readonly FunctionChildren[], odgm: boolean): ScrapedWorkloads {
  const serving = functions.filter(({ rendered }) => rendered.service !== "");
  if (serving.length === 0) return { odgm };
  const onKnative = serving.some(({ rendered }) => rendered.replicasOwner === "knative");
  return { functions: onKnative ? "knative" : "pods", odgm };
}

function withoutWorkload(fn: FunctionPlan): RenderedFunction {
  return {
    functionKey: fn.key,
    runtime: fn.runtime,
    service: "",
    port: 0,
    predictedUrl: fn.url,
    replicasOwner: "template",
  };
}

/** Objects that others refer to come first: policies before pods, Services before workloads. */
const KIND_ORDER = [
  "NetworkPolicy",
  "ServiceAccount",
  "ConfigMap",
  "PersistentVolumeClaim",
  "v1/Service",
  "StatefulSet",
  "Deployment",
  "DaemonSet",
  "Job",
  "Service",
  "Ingress",
  "HorizontalPodAutoscaler",
  "ScaledObject",
  "HTTPScaledObject",
  "PodDisruptionBudget",
];

function sortByKind(children: readonly Manifest[]): readonly Manifest[] {
  const keyed = children.map((child) => {
    const exact = KIND_ORDER.indexOf(`${child.apiVersion}/${child.kind}`);
    const rank = exact === -1 ? KIND_ORDER.indexOf(child.kind) : exact;
    const key = `${String(rank === -1 ? KIND_ORDER.length : rank).padStart(2, "0")} ${child.metadata.name ?? ""}`;
    return { child, key: `${key} ${child.apiVersion} ${child.kind}` };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ child }) => child);
}
