import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { FlowControl } from "./flow-control.ts";

const forever = new AbortController().signal;

test("limits concurrency and serves the queue in order", async () => {
  const { time, ...ambient } = virtualAmbient(1);
  const flow = new FlowControl(ambient, { perSecond: 1000, burst: 1000, inFlight: 2 });
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const runs = [0, 1, 2, 3].map((n) =>
    flow.run(forever, () => {
      started.push(n);
      return new Promise<void>((resolve) => void (finish[n] = resolve));
    }),
  );
  await time.advance(0);
  expect(started).toEqual([0, 1]);
  finish[1]!();
  await time.advance(0);
  expect(started).toEqual([0, 1, 2]);
  finish[0]!();
  await time.advance(0);
  expect(started).toEqual([0, 1, 2, 3]);
  finish[2]!();
  finish[3]!();
  await Promise.all(runs);
  expect([flow.running, flow.waiting]).toEqual([0, 0]);
});

test("limits the start rate after the burst", async () => {
  const { time, ...ambient } = virtualAmbient(1);
  const flow = new FlowControl(ambient, { perSecond: 10, burst: 3, inFlight: 100 });
  const startedAt: number[] = [];
  const runs = Array.from({ length: 6 }, () => flow.run(forever, async () => void startedAt.push(time.monotonic())));
  await time.advance(1000);
  await Promise.all(runs);
  expect(startedAt.map(Math.round)).toEqual([0, 0, 0, 100, 200, 300]);
});

test("an aborted waiter leaves the queue without using a slot", async () => {
  const { time, ...ambient } = virtualAmbient(1);
  const flow = new FlowControl(ambient, { perSecond: 1000, burst: 1000, inFlight: 1 });
  let finish = (): void => undefined;
  const first = flow.run(forever, () => new Promise<void>((resolve) => void (finish = resolve)));
  const caller = new AbortController();
  const second = expect(flow.run(caller.signal, async () => "never")).rejects.toThrow("gone");
  await time.advance(0);
  expect(flow.waiting).toBe(1);
  caller.abort(unavailable("caller", "gone"));
  await second;
  expect(flow.waiting).toBe(0);
  finish();
  await first;
  expect(await flow.run(forever, async () => "next")).toBe("next");
});

test("failed work releases its slot", async () => {
  const { time: _, ...ambient } = virtualAmbient(1);
  const flow = new FlowControl(ambient, { perSecond: 1000, burst: 1000, inFlight: 1 });
  await expect(flow.run(forever, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(flow.running).toBe(0);
});
