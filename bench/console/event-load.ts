import { setTimeout as sleep } from "node:timers/promises";
import { shopPackage } from "../pm/seed.ts";
import type { MeasuredPm } from "../pm/measured-pm.ts";

const TICK_MS = 100;

/** Changes packages in turn for `durationMs`, so that the package manager emits `perSecond` events. Returns how many. */
export async function emitEvents(
  pm: Pick<MeasuredPm, "call">,
  { perSecond, durationMs, packages }: { perSecond: number; durationMs: number; packages: number },
): Promise<number> {
  const start = performance.now();
  let sent = 0;
  for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - start) {
    const due = Math.floor((Math.min(elapsed + TICK_MS, durationMs) * perSecond) / 1000) - sent;
    // A machine that is too slow must not be sent all that it missed at once.
    const now = Math.min(due, (2 * perSecond * TICK_MS) / 1000);
    await Promise.all(Array.from({ length: now }, (_, index) => change(pm, sent + index, packages)));
    sent += now;
    await sleep(TICK_MS);
  }
  return sent;
}

async function change(pm: Pick<MeasuredPm, "call">, n: number, packages: number): Promise<void> {
  const name = `shop-${String(n % packages).padStart(2, "0")}`;
  const { status, text } = await pm.call("POST", `/api/v1/packages/${name}`, {
    body: shopPackage(name, `change ${n}`),
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
}
