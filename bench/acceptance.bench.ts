import { percentile } from "./crm/lab.ts";
import type { Bench, BenchReport } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { CALLERS, DEPLOYMENTS, measureAcceptance, type Part, type Round } from "./pm/acceptance.ts";

const ROUNDS = Number(process.env["OAAS_BENCH_ROUNDS"] ?? 3);
const BUDGET = { postMs: 70, deployMs: 150 };

/**
 * Acceptance while the children of earlier classes are written: deployments through both managers one at a time, then
 * Deploy calls of the class runtime manager alone, eight at once. Each round has a new cluster.
 */
export const bench: Bench = {
  name: "acceptance",
  flags: { against: "the folder of another checkout, measured in turn with this one" },
  async run(log, { against }) {
    const variants = ["", ...(against === undefined ? [] : [against])];
    const rounds = new Map<string, Round[]>(variants.map((variant) => [variant, []]));
    for (let count = 1; count <= ROUNDS; count += 1) {
      for (const variant of count % 2 === 0 ? variants.toReversed() : variants) {
        const round = await measureAcceptance(variant === "" ? {} : { checkout: variant });
        rounds.get(variant)?.push(round);
        log(`round ${count}, ${variant === "" ? "this checkout" : variant}: ${describe(round)}`);
      }
    }
    return reportOf(rounds.get("") ?? [], against === undefined ? undefined : rounds.get(against));
  },
};

function describe({ posts, deploys }: Round): string {
  const text = ({ latencies, childrenMs, lagMs, cpuMs }: Part): string =>
    `p50 ${percentile(latencies, 0.5).toFixed(0)}, p99 ${percentile(latencies, 0.99).toFixed(0)} ms, all children after ${(childrenMs / 1000).toFixed(1)} s (${(lagMs / 1000).toFixed(1)} s after the last response), CPU per class: managers ${(cpuMs.managers / DEPLOYMENTS).toFixed(0)}, server ${(cpuMs.server / DEPLOYMENTS).toFixed(0)} ms`;
  return `POST ${text(posts)}; Deploy ${text(deploys)}`;
}

function medianOf(rounds: readonly Round[], of: (round: Round) => number): number {
  return median(rounds.map(of));
}

const FIGURES = [
  {
    name: "POST /deployments, one at a time, p50",
    unit: "ms",
    of: ({ posts }: Round) => percentile(posts.latencies, 0.5),
  },
  {
    name: "POST /deployments, one at a time, p99",
    unit: "ms",
    of: ({ posts }: Round) => percentile(posts.latencies, 0.99),
  },
  { name: "first POST to the last child", unit: "s", of: ({ posts }: Round) => posts.childrenMs / 1000 },
  { name: "last response to the last child", unit: "s", of: ({ posts }: Round) => posts.lagMs / 1000 },
  {
    name: `Deploy, ${CALLERS} at once, p50`,
    unit: "ms",
    of: ({ deploys }: Round) => percentile(deploys.latencies, 0.5),
  },
  {
    name: `Deploy, ${CALLERS} at once, p99`,
    unit: "ms",
    of: ({ deploys }: Round) => percentile(deploys.latencies, 0.99),
  },
  { name: "first Deploy to the last child", unit: "s", of: ({ deploys }: Round) => deploys.childrenMs / 1000 },
  { name: "last Deploy to the last child", unit: "s", of: ({ deploys }: Round) => deploys.lagMs / 1000 },
] as const;

function reportOf(own: readonly Round[], other: readonly Round[] | undefined): BenchReport {
  const postMs = medianOf(own, FIGURES[0].of);
  const deployMs = medianOf(own, FIGURES[4].of);
  return {
    title: `Acceptance of ${DEPLOYMENTS} classes of two functions and a state store through both managers on a real API server (medians of ${ROUNDS} rounds)`,
    measurements: FIGURES.flatMap(({ name, unit, of }) => [
      { name, unit, value: medianOf(own, of) },
      ...(other === undefined ? [] : [{ name: `${name}, other checkout`, unit, value: medianOf(other, of) }]),
    ]),
    ratios: [
      {
        name: "POST /deployments in time",
        value: BUDGET.postMs / postMs,
        explains: `${BUDGET.postMs} ms over the median, while the children of earlier classes are written`,
      },
      {
        name: "Deploy in time",
        value: BUDGET.deployMs / deployMs,
        explains: `${BUDGET.deployMs} ms over the median of ${CALLERS} at once`,
      },
      ...(other === undefined
        ? []
        : FIGURES.map(({ name, of }) => ({
            name: `${name}: other checkout / this one`,
            value: medianOf(other, of) / medianOf(own, of),
            explains: "above 1 is faster; rounds alternate",
          }))),
    ],
  };
}
