import { ClassCluster } from "../tests/one-process/src/class-cluster.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";

const CLASSES = 50;
const ROUNDS = 5;
const HOUR_MS = 3_600_000;
const SETTLING_MS = 120_000;

/** Speed of virtual time in an idle one-process cluster. */
export const bench: Bench = {
  name: "apiserver-virtual-time",
  async run(log) {
    await using cluster = await ClassCluster.start(1);
    for (let index = 0; index < CLASSES; index += 1)
      await cluster.applyClass(`order-${index}`, { functions: { place: "1", cancel: "1" }, odgm: true });
    await cluster.advance(SETTLING_MS);
    const available = Object.values(await cluster.phases()).filter((phase) => phase === "available").length;
    if (available !== CLASSES) throw new Error(`${available} of ${CLASSES} classes are available`);
    log(`${CLASSES} classes are available`);
    const revision = cluster.server.store.revision;
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const begun = performance.now();
      await cluster.advance(HOUR_MS);
      took.push(performance.now() - begun);
      log(`hour ${round + 1}: ${took.at(-1)?.toFixed(0)} ms`);
    }
    const ms = median(took);
    return {
      title: `A virtual hour of ${CLASSES} idle classes of two functions and a state store, server and manager in one process (median of ${ROUNDS})`,
      measurements: [
        { name: "a virtual hour", value: ms, unit: "ms" },
        { name: "virtual time / real time", value: HOUR_MS / ms, unit: "×" },
        { name: "writes in that time", value: cluster.server.store.revision - revision, unit: "writes" },
      ],
      ratios: [{ name: "a second / a virtual hour", value: 1000 / ms, floor: 1, explains: "at most a second" }],
    };
  },
};
