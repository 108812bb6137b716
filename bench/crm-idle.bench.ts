import { setTimeout as sleep } from "node:timers/promises";
import { startLab } from "./crm/lab.ts";
import { isClassWrite, quiet, requestsBetween, startManager } from "./crm/measured-manager.ts";
import { populate, untilAvailable } from "./crm/population.ts";
import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";

const CLASSES = scaled(1_000);
/** `OAAS_BENCH_IDLE_MINUTES=10` for a long run. */
const MINUTES = Number(process.env["OAAS_BENCH_IDLE_MINUTES"] ?? 1);
/** Three pods per class, 110 pods per node. */
const NODES = Math.ceil((CLASSES * 3) / 100) + 1;

/** Requests of a manager with idle classes: all available, with pods on simulated nodes. */
export const bench: Bench = {
  name: "crm-idle",
  async run(log) {
    await using lab = await startLab({ controllerManager: true, scheduler: true, kwokNodes: NODES });
    await using manager = await startManager(lab.kubeconfig);
    await manager.readyAt;
    const empty = await manager.figures({ heap: true });
    await populate(lab, manager, CLASSES);
    log(`${CLASSES} classes are accepted`);
    await untilAvailable(lab, CLASSES);
    const made = await quiet(manager);
    log(`all are available; now nothing is done for ${MINUTES} min`);
    const before = await manager.figures({ heap: true });
    await sleep(MINUTES * 60_000);
    const after = await manager.figures();
    const during = (counts: (name: string) => boolean): number => requestsBetween(before, after, counts);
    const writes = during(isClassWrite);
    const lists = during((name) => name.startsWith("LIST "));
    return {
      title: `${CLASSES} available classes of two functions and a state store, idle for ${MINUTES} min (controllers, KWOK)`,
      measurements: [
        { name: "API writes", value: writes, unit: "writes", note: "without the lease" },
        { name: "lists", value: lists, unit: "lists", note: "watches that begin with a list included" },
        {
          name: "reads of single objects",
          value: during((name) => name.startsWith("GET ") && !name.endsWith(" leases")),
          unit: "reads",
          note: "discovery of kinds included",
        },
        {
          name: "watches restarted",
          value: during((name) => name.startsWith("WATCH ")),
          unit: "watches",
          note: "the server ends each after some minutes",
        },
        { name: "renewals of the lease", value: during((name) => name === "PUT leases"), unit: "writes" },
        { name: "CPU time", value: (after.cpuMs - before.cpuMs) / MINUTES / 600, unit: "% of one core" },
        {
          name: "API writes per class until available",
          value: requestsBetween(empty, made, isClassWrite) / CLASSES,
          unit: "writes",
          note: "every status and event on the way",
        },
        {
          name: "live heap per class",
          value: ((before.heapBytes ?? 0) - (empty.heapBytes ?? 0)) / 1024 / CLASSES,
          unit: "KiB",
          note: "with pods and replica sets",
        },
        { name: "resident", value: after.rssBytes / 2 ** 20, unit: "MiB" },
        { name: "resident without classes", value: empty.rssBytes / 2 ** 20, unit: "MiB" },
      ],
      ratios: [
        {
          name: "no writes",
          value: writes + lists === 0 ? 1 : 0,
          floor: 1,
          explains: "1 when nothing was written and nothing listed",
        },
      ],
    };
  },
};
