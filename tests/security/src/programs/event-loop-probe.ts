/**
 * Preloaded into an attacked process (`NODE_OPTIONS=--import`). Appends a line to EVENT_LOOP_PROBE_FILE for each turn of
 * the event loop that used more than 20 ms of CPU: the time it ended and the CPU time in microseconds. CPU time of the
 * main thread, unlike elapsed time, does not grow when the machine is busy.
 */
import { appendFileSync } from "node:fs";

const REPORTED_MICROS = 20_000;
const INTERVAL_MS = 5;

const file = process.env["EVENT_LOOP_PROBE_FILE"];
if (file !== undefined) {
  const usedMicros = (): number => {
    const { user, system } = process.threadCpuUsage();
    return user + system;
  };
  let last = usedMicros();
  setInterval(() => {
    const used = usedMicros();
    if (used - last > REPORTED_MICROS) appendFileSync(file, `${Date.now()} ${used - last}\n`);
    last = usedMicros();
  }, INTERVAL_MS).unref();
}
