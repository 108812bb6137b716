import { expect, test } from "vitest";
import { orAbort, startDeadline } from "./deadline.ts";
import { type Fault, unavailable } from "../faults/fault.ts";
import { virtualAmbient } from "../virtual/index.ts";

test("aborts with deadline-exceeded at the deadline", async () => {
  const { time, ...ambient } = virtualAmbient(1);
  using deadline = startDeadline(ambient, 1000);
  await time.advance(999);
  expect(deadline.signal.aborted).toBe(false);
  expect(deadline.remainingMs()).toBe(1);
  await time.advance(1);
  expect(deadline.signal.aborted).toBe(true);
  expect((deadline.signal.reason as Fault).kind).toBe("deadline-exceeded");
  expect(deadline.remainingMs()).toBe(0);
});

test("aborts with the fault of the caller's signal", () => {
  const { time: _, ...ambient } = virtualAmbient(1);
  const caller = new AbortController();
  using deadline = startDeadline(ambient, 1000, caller.signal);
  caller.abort(unavailable("client", "gone"));
  expect((deadline.signal.reason as Fault).kind).toBe("unavailable");
});

test("is cancelled from the start when the caller's signal is aborted", () => {
  const { time, ...ambient } = virtualAmbient(1);
  using deadline = startDeadline(ambient, 1000, AbortSignal.abort());
  expect((deadline.signal.reason as Fault).kind).toBe("cancelled");
  expect(time.pendingTimers).toBe(0);
});

test("cancels its timer on dispose", () => {
  const { time, ...ambient } = virtualAmbient(1);
  startDeadline(ambient, 1000)[Symbol.dispose]();
  expect(time.pendingTimers).toBe(0);
});

test("orAbort returns the result of the work, or rejects with the signal's fault", async () => {
  const { time, ...ambient } = virtualAmbient(1);
  using deadline = startDeadline(ambient, 10);
  expect(await orAbort(Promise.resolve("done"), deadline.signal)).toBe("done");
  const hanging = expect(orAbort(new Promise(() => {}), deadline.signal)).rejects.toMatchObject({
    kind: "deadline-exceeded",
  });
  await time.advance(10);
  await hanging;
});
