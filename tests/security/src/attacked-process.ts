import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const PROBE = path.join(import.meta.dirname, "programs", "event-loop-probe.ts");
/** The probe measures every few milliseconds; after this time it has reported the last turn. */
const PROBE_LAG_MS = 50;
const IDLE_MS = 700;
const KIB = 1024;

/** The effect of an attack on a process. */
export interface Impact {
  /** CPU time of the longest turn of the event loop, in milliseconds; 0 when all were short. */
  readonly longestTurnMs: number;
  /** Growth of resident memory at its peak, in bytes. */
  readonly memoryBytes: number;
}

/** Environment variables that make a process report turns of its event loop to the file. */
export function probeEnvironment(file: string): Readonly<Record<string, string>> {
  writeFileSync(file, "");
  return { NODE_OPTIONS: `--import=${pathToFileURL(PROBE).href}`, EVENT_LOOP_PROBE_FILE: file };
}

/** Waits until the process has finished its start: its event loop had only short turns for a while. */
export async function untilIdle(file: string): Promise<void> {
  let seen = -1;
  for (let length = 0; seen !== length; length = readFileSync(file, "utf8").length) {
    seen = length;
    await setTimeout(IDLE_MS);
  }
}

/** Runs `attack` and measures its effect on the process. */
export async function measureImpact(pid: number, file: string, attack: () => Promise<void>): Promise<Impact> {
  const seen = readFileSync(file, "utf8").length;
  const [memoryBytes = 0] = await measureMemory([pid], async () => {
    await attack();
    await setTimeout(PROBE_LAG_MS);
  });
  const turns = readFileSync(file, "utf8")
    .slice(seen)
    .split("\n")
    .map((line) => Number(line.split(" ")[1] ?? 0) / 1000);
  return { longestTurnMs: Math.max(0, ...turns), memoryBytes };
}

/** Runs `attack` and returns the growth of resident memory at its peak for each process, in bytes. */
export async function measureMemory(pids: readonly number[], attack: () => Promise<void>): Promise<number[]> {
  const before = pids.map((pid) => {
    // Resets the peak (proc(5)).
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    return residentBytes(pid, "VmRSS");
  });
  await attack();
  return pids.map((pid, index) => residentBytes(pid, "VmHWM") - (before[index] ?? 0));
}

function residentBytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  const line = readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${field}:\\s+(\\d+) kB`, "m"));
  return Number(line?.[1]) * KIB;
}
