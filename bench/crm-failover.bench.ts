import { percentile, startLab } from "./crm/lab.ts";
import { startManager, type MeasuredManager } from "./crm/measured-manager.ts";
import { deploy } from "./crm/population.ts";
import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";

const ROUNDS = Math.max(2, scaled(10));
const NAMESPACE = "shop";

/** Stops the leader while another manager is on standby, and measures the gap without a leader. */
export const bench: Bench = {
  name: "crm-failover",
  async run(log) {
    await using lab = await startLab();
    await lab.makeNamespace(NAMESPACE);
    let leader = await startManager(lab.kubeconfig);
    await deploy(leader, { id: "first", namespace: NAMESPACE });
    const idle = await leader.figures({ heap: true });
    const gaps: number[] = [];
    let follower: MeasuredManager | undefined;
    try {
      for (let round = 1; round <= ROUNDS; round += 1) {
        follower = await startManager(lab.kubeconfig);
        await follower.readyAt;
        const start = performance.now();
        const ended = leader.stop();
        await deploy(follower, { id: `round-${round}`, namespace: NAMESPACE });
        gaps.push(performance.now() - start);
        await ended;
        leader = follower;
        log(`round ${round}: ${gaps.at(-1)?.toFixed(0)} ms`);
      }
    } finally {
      await leader.stop();
      await follower?.stop();
    }
    return {
      title: `A leader shuts down gracefully, another manager takes over (${ROUNDS} rounds), on a real API server`,
      measurements: [
        { name: "from SIGTERM until the other one has written a class, p50", value: percentile(gaps, 0.5), unit: "ms" },
        { name: "from SIGTERM until the other one has written a class, max", value: Math.max(...gaps), unit: "ms" },
        { name: "idle manager, resident", value: idle.rssBytes / 2 ** 20, unit: "MiB", note: "after a collection" },
        { name: "idle manager, live heap", value: (idle.heapBytes ?? 0) / 2 ** 20, unit: "MiB" },
      ],
      ratios: [],
    };
  },
};
