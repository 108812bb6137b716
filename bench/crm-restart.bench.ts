import { eventually } from "@oaas/testkit";
import { startLab } from "./crm/lab.ts";
import { isClassWrite, now, quiet, requestsBetween, startManager } from "./crm/measured-manager.ts";
import { populateWithChildren, untilAvailable } from "./crm/population.ts";
import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";

const CLASSES = scaled(5_000);
const PATIENCE_MS = 600_000;
const MOST_SECONDS = 20;
const MOST_KIB = 40;

/**
 * Restarts a manager with thousands of available classes. There are no controllers: the benchmark creates the children
 * and marks every Deployment as ready, so that no pods use memory (the benchmark `crm-idle` has pods). The first
 * manager finds all children as desired and writes only status.
 */
export const bench: Bench = {
  name: "crm-restart",
  async run(log) {
    await using lab = await startLab();
    const first = await startManager(lab.kubeconfig);
    await first.readyAt;
    const empty = await first.figures({ heap: true });
    await first.stop();
    await populateWithChildren(lab, CLASSES);
    log(`${CLASSES} classes and their children are there`);
    const firstManager = await startManager(lab.kubeconfig);
    await untilAvailable(lab, CLASSES);
    const firstReading = await quiet(firstManager);
    const rewritten = requestsBetween(undefined, firstReading, (name) => isClassWrite(name) && !isStatusWrite(name));
    if (rewritten > 0) throw new Error(`${rewritten} children or classes were not as a manager makes them`);
    await firstManager.stop();
    log("all are available, and the manager that reported it has ended");
    await using second = await startManager(lab.kubeconfig);
    const readyAt = await second.readyAt;
    await eventually(async () => (await second.reconciles()) >= CLASSES, {
      timeoutMs: PATIENCE_MS,
      what: "a look at every class",
    });
    const inSync = (now() - second.startedAt) / 1000;
    await quiet(second);
    const after = await second.figures({ heap: true });
    const writes = requestsBetween(undefined, after, isClassWrite);
    const kib = ((after.heapBytes ?? 0) - (empty.heapBytes ?? 0)) / 1024 / CLASSES;
    return {
      title: `Restart with ${CLASSES} classes of two functions and a state store in place, all available, on a real API server`,
      measurements: [
        {
          name: "caches filled",
          value: (readyAt - second.startedAt) / 1000,
          unit: "s",
          note: "from the start of the process",
        },
        { name: "every class reconciled", value: inSync, unit: "s", note: "from the start of the process" },
        { name: "CPU time", value: after.cpuMs / 1000, unit: "s" },
        { name: "API writes", value: writes, unit: "writes", note: "without the lease" },
        {
          name: "live heap per class",
          value: kib,
          unit: "KiB",
          note: "after a collection, less that of a manager without classes",
        },
        { name: "resident", value: after.rssBytes / 2 ** 20, unit: "MiB" },
        { name: "resident, at its peak", value: after.peakRssBytes / 2 ** 20, unit: "MiB" },
        { name: "resident without classes", value: empty.rssBytes / 2 ** 20, unit: "MiB" },
      ],
      ratios: [
        { name: "no writes", value: writes === 0 ? 1 : 0, floor: 1, explains: "1 when the restart wrote nothing" },
        {
          name: "time budget / every class reconciled",
          value: MOST_SECONDS / inSync,
          floor: 1,
          explains: `at most ${MOST_SECONDS} s`,
        },
        {
          name: "memory budget / live heap per class",
          value: MOST_KIB / kib,
          floor: 1,
          explains: `at most ${MOST_KIB} KiB`,
        },
      ],
    };
  },
};

/** Status writes of classes without changes. */
function isStatusWrite(name: string): boolean {
  return name === "PATCH classruntimes/status" || name.endsWith(" events");
}
