import { hashJson } from "@oaas/foundation/hash";
import type { KubeObject } from "@oaas/kube-core";
import { contains } from "../apps/class-runtime-manager/src/controller/children/apply-children.ts";
import { changedFields } from "../apps/class-runtime-manager/src/lifecycle/status/changed-fields.ts";
import { unitToClassRuntime } from "../apps/class-runtime-manager/src/mapping/unit/unit-to-class-runtime.ts";
import { CLUSTER } from "../apps/class-runtime-manager/src/rendering/testing/inputs.ts";
import {
  BUILTIN_TEMPLATES,
  chooseAndRender,
  type Manifest,
} from "../apps/class-runtime-manager/src/templates/index.ts";
import { unitEncoder } from "../apps/package-manager/src/adapters/crm/wire/unit-to-wire.ts";
import type { ClusterObjects } from "../apps/package-manager/src/planner/explanation/plan-objects.ts";
import { planObjectsToWire } from "../apps/package-manager/src/planner/explanation/plan-objects-view.ts";
import { planDeployment } from "../apps/package-manager/src/planner/plan.ts";
import type { DeploymentPlan, PlannedUnit } from "../apps/package-manager/src/planner/plan-types.ts";
import {
  bindingOf,
  clusterOf,
  functionOf,
  inputOf,
  stateOf,
} from "../apps/package-manager/src/planner/testing/plan-inputs.ts";
import type { RenderedObject } from "../apps/package-manager/src/ports.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const CLUSTERS = 50;
const ROUNDS = 5;
const PLANS = scaled(40);
const METHODS = ["create", "read", "update"];

const clusters = Array.from({ length: CLUSTERS }, (_, index) => clusterOf(`cluster-${index}`, 0.999));
const input = inputOf({
  definition: { stateSpec: stateOf(), bindings: METHODS.map((name) => bindingOf(name, `Order.${name}`)) },
  functions: METHODS.map((name) => functionOf(`Order.${name}`)),
  clusters,
  deployment: { targetClusters: clusters.map(({ name }) => name) },
});

function planAll(): DeploymentPlan {
  const planned = planDeployment(input);
  if (!planned.ok) throw new Error(planned.error.message);
  return planned.value;
}

/** The children of a unit, as the manager of its cluster renders them. */
function renderUnit(plan: DeploymentPlan, unit: PlannedUnit): readonly Manifest[] {
  const converted = unitToClassRuntime(unitEncoder.encode(plan, unit), { namespace: "shop" });
  if (!converted.ok) throw new Error(JSON.stringify(converted.error));
  const { apiVersion, kind, metadata, spec } = converted.value.desired;
  const owner = { apiVersion, kind, namespace: "shop", name: metadata.name, uid: "1" };
  const chosen = chooseAndRender({ owner, spec, cluster: CLUSTER }, BUILTIN_TEMPLATES);
  if (!chosen.ok) throw new Error(chosen.error.message);
  return chosen.value.rendered.children;
}

/** Compares the children of a unit with what runs: the image of every Deployment differs. */
function diffUnit(children: readonly Manifest[], live: readonly KubeObject[]): readonly RenderedObject[] {
  return children.map((manifest, index) => {
    hashJson(manifest);
    const before = live[index] ?? manifest;
    const object = { kind: manifest.kind, name: manifest.metadata.name ?? "" };
    if (contains(before, manifest)) return { ...object, change: "unchanged", fields: [], moreFields: 0 };
    return { ...object, change: "update", ...changedFields(before, manifest, new Set()) };
  });
}

function withOtherImage(manifest: Manifest): KubeObject {
  return JSON.parse(JSON.stringify(manifest).replaceAll("order:1", "order:0")) as KubeObject;
}

function timed(work: () => unknown): { readonly p50: number; readonly p99: number } {
  for (let count = 0; count < PLANS; count += 1) work();
  const rounds = Array.from({ length: ROUNDS }, () => {
    const samples = Array.from({ length: PLANS }, () => {
      const start = performance.now();
      work();
      return performance.now() - start;
    }).sort((a, b) => a - b);
    const at = (share: number): number => samples[Math.floor(share * (samples.length - 1))] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99) };
  });
  return { p50: median(rounds.map(({ p50 }) => p50)), p99: median(rounds.map(({ p99 }) => p99)) };
}

/**
 * Plans one class in 50 clusters with the objects that change, without network. The managers of the clusters render at the
 * same time, so a plan takes the planner, one cluster, and the merge of all. The budget is 50 ms at p99.
 */
export const bench: Bench = {
  name: "plan-objects",
  async run(log) {
    const plan = planAll();
    const live = new Map(plan.units.map((unit) => [unit.cluster, renderUnit(plan, unit).map(withOtherImage)]));
    const changesOf = (unit: PlannedUnit): ClusterObjects => {
      const objects = diffUnit(renderUnit(plan, unit), live.get(unit.cluster) ?? []);
      const { cluster, unitId } = unit;
      const rendered = { namespace: "shop", template: "dev", objects, moreObjects: 0, warnings: [] };
      return { cluster, unitId, state: "rendered", unit: rendered };
    };
    const all = plan.units.map(changesOf);
    const [first] = plan.units;
    const planWithObjects = (): string => {
      planAll();
      if (first !== undefined) changesOf(first);
      return JSON.stringify(planObjectsToWire(all));
    };
    log(`${ROUNDS} rounds of ${PLANS} plans`);
    const alone = timed(planAll);
    const whole = timed(planWithObjects);
    const everywhere = timed(() => plan.units.map(changesOf));
    const children = [...live.values()].reduce((sum, objects) => sum + objects.length, 0);
    return {
      title: `Plan with objects: one class, ${METHODS.length} functions, ${CLUSTERS} clusters, ${children} objects`,
      measurements: [
        { name: "plan with objects: median", value: whole.p50, unit: "ms" },
        { name: "plan with objects: p99", value: whole.p99, unit: "ms", note: "budget 50 ms" },
        { name: "plan alone: median", value: alone.p50, unit: "ms" },
        { name: "render and compare all clusters: median", value: everywhere.p50, unit: "ms", note: "on one core" },
      ],
      ratios: [
        {
          name: "render and compare all clusters / plan with objects",
          value: everywhere.p50 / whole.p50,
          floor: 4,
          explains: "The package manager adds less to a plan than its clusters would need one after another.",
        },
      ],
    };
  },
};
