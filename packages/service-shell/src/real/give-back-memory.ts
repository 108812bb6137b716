import type { Timers } from "@oaas/foundation";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a process looks at before it gives memory back. */
export interface MemoryPorts {
  readonly timers: Timers;
  /** Share of the time since the last question in which the process was busy: 0 to 1. */
  busy(): number;
  heapBytes(): number;
  /** Collects all there is to collect, and returns pages to the system. */
  collect(): void;
}

const LOOK_MS = 2_000;
/** Busier than this, a process has better things to do. */
const QUIET = 0.25;
/** A heap this large is in use: what a start leaves behind is small against it, and collecting it all would take long. */
const LARGE_BYTES = 96 * 2 ** 20;

/**
 * Gives back what only the start needed, once, as soon as the process is quiet: modules that are read and configuration that is checked leave a
 * young generation of 16 MiB and half-empty pages, which V8 keeps for a load that may never come.
 */
export function giveBackMemory(ports: MemoryPorts): void {
  ports.timers.after(LOOK_MS, () => {
    if (ports.heapBytes() > LARGE_BYTES) return;
    if (ports.busy() > QUIET) giveBackMemory(ports);
    else ports.collect();
  });
}

/** Those of this process. */
export function ownMemory(timers: Timers): MemoryPorts {
  let before = performance.eventLoopUtilization();
  return {
    timers,
    busy: () => {
      const { utilization } = performance.eventLoopUtilization(before);
      before = performance.eventLoopUtilization();
      return utilization;
    },
    heapBytes: () => process.memoryUsage().heapUsed,
    collect: () => {
      setFlagsFromString("--expose-gc");
      const gc = runInNewContext("gc") as (options: object) => void;
      gc({ type: "major", flavor: "last-resort" });
      setFlagsFromString("--no-expose-gc");
    },
  };
}
