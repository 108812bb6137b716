import { planDeployment } from "../apps/package-manager/src/planner/plan.ts";
import type { DeploymentPlan, PlanInput } from "../apps/package-manager/src/planner/plan-types.ts";
import {
  bindingOf,
  clusterOf,
  functionOf,
  inputOf,
  STRONG_STATE,
} from "../apps/package-manager/src/planner/testing/plan-inputs.ts";
import type { Bench, Measurement } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const CLUSTERS = 50;
const WARM_UP = scaled(300);
const PLANS = scaled(300);
const ROUNDS = 9;

/** Distinct availabilities from 0.9 to 0.999 in random order. */
const clusters = Array.from({ length: CLUSTERS }, (_, index) =>
  clusterOf(`cluster-${index}`, 0.9 + (((index * 37) % CLUSTERS) / CLUSTERS) * 0.099),
);

const METHODS = ["create", "read", "update", "remove", "audit"];

/** A class with strongly consistent state and five functions. */
const ofClass = {
  definition: { stateSpec: STRONG_STATE, bindings: METHODS.map((name) => bindingOf(name, `Order.${name}`)) },
  functions: METHODS.map((name) => functionOf(`Order.${name}`)),
  clusters,
};

const chosen = inputOf({ ...ofClass, deployment: { nfr: { availability: 0.999_99, minThroughputRps: 2500 } } });
const named = inputOf({
  ...ofClass,
  deployment: {
    nfr: { availability: 0.999_99, minThroughputRps: 2500 },
    targetClusters: clusters.map(({ name }) => name),
  },
});

/** The same class by failure domains, with ten zones. */
const byDomains = inputOf({
  ...ofClass,
  clusters: clusters.map((cluster, index) => ({ ...cluster, labels: { zone: `zone-${index % 10}` } })),
  settings: { algorithm: "domains" },
  deployment: { nfr: { availability: 0.999_99, minThroughputRps: 2500 } },
});

/** Clusters that are down most of the time: no number of replicas reaches the target, and all remedies are searched. */
const hopeless = inputOf({
  ...ofClass,
  clusters: clusters.map(({ name }, index) => clusterOf(name, 0.4 + index / 1000)),
});

interface Timed {
  readonly p50: number;
  readonly p99: number;
}

/** Medians over rounds, to ignore short disturbances of the machine. */
function timed(work: () => unknown): Timed {
  for (let count = 0; count < WARM_UP; count += 1) work();
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

function planOf(input: PlanInput): DeploymentPlan {
  const result = planDeployment(input);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function refusalOf(input: PlanInput): unknown {
  const result = planDeployment(input);
  if (result.ok) throw new Error("an unreachable target was planned");
  return result.error;
}

/** Plans one class in 50 clusters, compared with JSON encoding of the plan. The budget of a plan is 5 ms at p99. */
export const bench: Bench = {
  name: "planner",
  async run(log) {
    const previous = planOf(chosen);
    const everywhere = planOf(named);
    const cases: readonly { readonly name: string; readonly note: string; readonly work: () => unknown }[] = [
      {
        name: "plan, clusters chosen",
        note: `${previous.units.length} of ${CLUSTERS} used`,
        work: () => planOf(chosen),
      },
      { name: "plan, all clusters named", note: `${everywhere.units.length} units`, work: () => planOf(named) },
      { name: "plan by failure domains", note: "10 zones", work: () => planOf(byDomains) },
      { name: "re-plan", note: "with hysteresis", work: () => planOf({ ...chosen, previous }) },
      { name: "rejection", note: "all remedies searched", work: () => refusalOf(hopeless) },
      {
        name: "plan to JSON and back",
        note: `all clusters named, ${JSON.stringify(everywhere).length} bytes`,
        work: () => JSON.parse(JSON.stringify(everywhere)) as unknown,
      },
    ];
    const results = cases.map(({ name, note, work }) => {
      log(`${name}: ${ROUNDS} rounds of ${PLANS}`);
      return { name, note, ...timed(work) };
    });
    const usual = (name: string): number => results.find((result) => result.name === name)?.p50 ?? Number.NaN;
    return {
      title: `Planner: one class, ${METHODS.length} functions, ${CLUSTERS} clusters`,
      measurements: results.flatMap((result): Measurement[] => [
        { name: `${result.name}: median`, value: result.p50, unit: "ms", note: result.note },
        { name: `${result.name}: p99`, value: result.p99, unit: "ms", note: result.note },
      ]),
      ratios: [
        {
          name: "JSON and back / plan of all clusters",
          value: usual("plan to JSON and back") / usual("plan, all clusters named"),
          floor: 0.03,
          explains: "A plan with its ids, its digest and its reasons costs no more than thirty copies of itself.",
        },
        {
          name: "plan / re-plan",
          value: usual("plan, clusters chosen") / usual("re-plan"),
          floor: 0.2,
          explains: "Considering the running units costs little.",
        },
      ],
    };
  },
};
