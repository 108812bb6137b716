import { percentile } from "./crm/lab.ts";
import { now } from "./crm/measured-manager.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";
import { deploy, deployed, startFleet } from "./pm/fleet.ts";

const CLUSTERS = 100;
const UNREACHABLE = 10;
const DELAY_MS = 50;
const WARM_UP = 3;
const ROUNDS = scaled(15);
const PLANS = scaled(1_000);
const PLANNED_OVER = 50;

/**
 * Time from POST to acceptance by a hundred clusters with 50 ms each: delays overlap, and unreachable clusters delay no
 * others.
 */
export const bench: Bench = {
  name: "pm-fan-out",
  async run(log) {
    await using fleet = await startFleet(CLUSTERS, DELAY_MS, { env: { DEPLOY_FAN_OUT: String(CLUSTERS) } });
    const { pm, clusters } = fleet;
    const cpuMs = async (): Promise<number> => (await pm.figures()).cpuMs;
    const living = clusters.slice(0, CLUSTERS - UNREACHABLE);
    const times = async (name: string, to: readonly string[], rounds: number): Promise<number[]> => {
      const took: number[] = [];
      for (let round = 0; round < rounds; round += 1) took.push(await deployed(pm, `${name}-${round}`, to));
      return took;
    };

    log(`plans over ${PLANNED_OVER} clusters through POST /plans`);
    const planned = clusters.slice(0, PLANNED_OVER);
    const plans: number[] = [];
    const idle = await cpuMs();
    for (let plan = 0; plan < PLANS; plan += 1) {
      const start = performance.now();
      const { status, text } = await pm.call("POST", "/api/v1/plans", {
        body: {
          deployment: {
            key: "planned",
            package_name: "shop",
            class_key: "Echo",
            available_envs: planned,
            nfr_requirements: { availability: 0.999_99 },
          },
        },
      });
      if (status !== 200) throw new Error(text);
      plans.push(performance.now() - start);
    }

    const planCpu = ((await cpuMs()) - idle) / PLANS;

    log(`${ROUNDS} deployments to ${CLUSTERS} clusters`);
    await times("warm", clusters, WARM_UP);
    const one = await times("one", clusters.slice(0, 1), ROUNDS);
    const before = await cpuMs();
    const all = await times("all", clusters, ROUNDS);
    const fanOutCpu = ((await cpuMs()) - before) / ROUNDS;
    const some: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = `some-${round}`;
      const start = now();
      await deployed(pm, key, living);
      some.push((await fleet.arrival(key, living.length)) - start);
    }

    log(`the same with ${UNREACHABLE} clusters that do not answer`);
    await fleet.mute(UNREACHABLE);
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = `beside-${round}`;
      const start = now();
      const onResponse = deploy(pm, key, clusters);
      beside.push((await fleet.arrival(key, living.length)) - start);
      // Dead clusters keep the operation waiting; cancel it before the next one starts.
      await pm.call("POST", `/api/v1/deployments/${key}/cancel`);
      await onResponse;
    }
    return {
      title: `One deployment to ${CLUSTERS} scripted clusters that each take ${DELAY_MS} ms`,
      measurements: [
        { name: `POST /plans over ${PLANNED_OVER} clusters, p50`, value: percentile(plans, 0.5), unit: "ms" },
        { name: `POST /plans over ${PLANNED_OVER} clusters, p99`, value: percentile(plans, 0.99), unit: "ms" },
        { name: `POST /plans over ${PLANNED_OVER} clusters, CPU`, value: planCpu, unit: "ms" },
        { name: "to one cluster, median", value: median(one), unit: "ms" },
        { name: `to ${CLUSTERS} clusters, median`, value: median(all), unit: "ms" },
        { name: `to ${CLUSTERS} clusters, CPU`, value: fanOutCpu, unit: "ms" },
        { name: `until ${living.length} clusters have it, median`, value: median(some), unit: "ms" },
        {
          name: `until ${living.length} have it with ${UNREACHABLE} unreachable, median`,
          value: median(beside),
          unit: "ms",
        },
      ],
      ratios: [
        {
          name: `four delays / time to ${CLUSTERS} clusters`,
          value: (4 * DELAY_MS) / median(all),
          floor: 1,
          explains: `a sum would be ${(CLUSTERS * DELAY_MS) / 1000} s`,
        },
        {
          name: `time to ${living.length} / the same with ${UNREACHABLE} unreachable`,
          value: median(some) / median(beside),
          floor: 0.8,
          explains: "as seen by the clusters; unreachable ones delay no others",
        },
        {
          name: `5 ms / POST /plans over ${PLANNED_OVER} clusters, p99`,
          value: 5 / percentile(plans, 0.99),
          explains: "with the HTTP round trip; the planner benchmark measures the plan itself",
        },
      ],
    };
  },
};
