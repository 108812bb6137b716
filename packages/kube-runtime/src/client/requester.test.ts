import { getEventListeners } from "node:events";
import { Fault, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { scriptedTransport, type Answer } from "../testing/scripted-transport.ts";
import { Requester, type ApiCall, type RequesterOptions } from "./requester.ts";

const READ: ApiCall = { verb: "get", subject: "Thing", method: "GET", path: "/things/a" };
const WRITE: ApiCall = { verb: "update", subject: "Thing", method: "PUT", path: "/things/a", body: "{}" };

type Step = Answer | Fault | "hang";

function setUp(steps: Step[], options: Partial<RequesterOptions> = {}) {
  const ambient = virtualAmbient(3);
  let unserved = 0;
  const transport = scriptedTransport(() => {
    const step = steps.shift() ?? { status: 200, body: { fine: true } };
    if (step instanceof Fault) throw step;
    return step;
  });
  const requester = new Requester({ transport, ambient, ...options }, { onUnserved: () => (unserved += 1) });
  /** Sends a call and lets time pass until it is answered. */
  const ask = async (
    call: ApiCall,
    deadlineMs?: number,
  ): Promise<{ value?: unknown; fault?: Fault; tookMs: number }> => {
    const from = ambient.time.monotonic();
    const asked = requester.json(call, deadlineMs === undefined ? {} : { deadlineMs }).then(
      (value) => ({ value }),
      (fault: Fault) => ({ fault }),
    );
    // Every wait of a call has a timer, so when none is left the call is over.
    while (await ambient.time.step());
    return { ...(await asked), tookMs: ambient.time.monotonic() - from };
  };
  return { time: ambient.time, transport, requester, ask, unserved: () => unserved };
}

const broken = unavailable("server", "reset");
const after = (status: number, seconds: string): Answer => ({ status, headers: { "retry-after": seconds } });

describe("which failures are tried again", () => {
  test.each([
    { why: "nothing was done", call: READ, first: { status: 429 }, again: true },
    { why: "nothing was done", call: WRITE, first: { status: 429 }, again: true },
    { why: "the server asks for it", call: WRITE, first: after(503, "1"), again: true },
    { why: "the write may have been done", call: WRITE, first: { status: 503 }, again: false },
    { why: "the write may have been done", call: WRITE, first: { status: 500 }, again: false },
    { why: "the write may have been done", call: WRITE, first: broken, again: false },
    { why: "reading twice harms nobody", call: READ, first: { status: 500 }, again: true },
    { why: "reading twice harms nobody", call: READ, first: broken, again: true },
    { why: "it would be refused again", call: READ, first: { status: 403 }, again: false },
    { why: "it would be refused again", call: READ, first: { status: 404 }, again: false },
    { why: "the caller must read first", call: WRITE, first: { status: 409 }, again: false },
    { why: "it asks for one answer", call: { ...READ, once: true }, first: broken, again: false },
    { why: "rubbish may be a proxy's", call: READ, first: { status: 502, body: "<html>" }, again: true },
  ])("$call.method after $first.status$first.kind: $again, because $why", async ({ call, first, again }) => {
    const world = setUp([first]);
    const { fault } = await world.ask(call);
    expect(world.transport.sent).toHaveLength(again ? 2 : 1);
    expect(fault === undefined).toBe(again);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("the time the server asks for is waited for", async () => {
    const { tookMs } = await setUp([after(429, "7"), after(429, "3")]).ask(WRITE);
    expect(tookMs).toBeGreaterThanOrEqual(10_000);
    expect(tookMs).toBeLessThan(11_000);
  });

  test("tries are bounded", async () => {
    const world = setUp(Array.from({ length: 50 }, () => ({ status: 429 })));
    expect((await world.ask(READ, 3_600_000)).fault?.kind).toBe("resource-exhausted");
    expect(world.transport.sent).toHaveLength(10);
  });
});

describe("the end of a call", () => {
  test("a call that hangs ends at its deadline, and one that waits for its body too", async () => {
    for (const step of ["hang", { status: 200, body: "hang" }] as const) {
      const { fault, tookMs } = await setUp([step]).ask(READ, 5_000);
      expect([fault?.kind, tookMs]).toEqual(["deadline-exceeded", 5_000]);
    }
  });

  test("the deadline is over all tries, and the reason is not hidden behind it", async () => {
    const { fault, tookMs } = await setUp([after(429, "60")]).ask(READ, 5_000);
    expect(fault?.kind).toBe("resource-exhausted");
    expect(tookMs).toBeLessThan(5_000);
  });

  test("a caller that gives up is told so at once, also while waiting in line or for a retry", async () => {
    const caller = new AbortController();
    const world = setUp([after(429, "3"), "hang"], { flow: { perSecond: 1000, burst: 1000, inFlight: 1 } });
    const first = world.requester.json(READ, { signal: caller.signal });
    const second = world.requester.json(READ, { signal: caller.signal });
    const third = world.requester.json(READ, { signal: caller.signal });
    const all = Promise.allSettled([first, second, third]);
    await world.time.advance(100);
    caller.abort(new Fault({ kind: "cancelled" }, "enough"));
    await world.time.advance(0);
    expect((await all).map((each) => each.status === "rejected" && (each.reason as Fault).kind)).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    expect(world.time.pendingTimers).toBe(0);
  });

  test("an answer that is no JSON is the server's trouble, with its start for the log", async () => {
    const { fault } = await setUp([{ status: 200, body: "<html>login</html>" }]).ask(WRITE);
    expect(fault).toMatchObject({ kind: "unavailable", context: { start: "<html>login</html>" } });
  });
});

describe("streams", () => {
  test("opening has a deadline; a refusal whose text never comes has one too", async () => {
    for (const step of ["hang", { status: 500, body: "hang" }] as const) {
      const world = setUp([step]);
      const opened = expect(world.requester.stream(READ, new AbortController().signal)).rejects.toMatchObject({
        kind: "deadline-exceeded",
      });
      await world.time.advance(30_000);
      await opened;
      expect(world.time.pendingTimers).toBe(0);
    }
  });

  test("once open there is no deadline, and the signal still ends it", async () => {
    const world = setUp([]);
    const caller = new AbortController();
    await world.requester.stream(READ, caller.signal);
    await world.time.advance(3_600_000);
    const [request] = world.transport.sent;
    expect(request?.signal.aborted).toBe(false);
    caller.abort();
    expect(request?.signal.aborted).toBe(true);
  });
});

test("streams that ended leave nothing on the signal that they were opened under", async () => {
  const world = setUp([{ status: 200 }, { status: 500 }, broken]);
  const { signal } = new AbortController();
  const response = await world.requester.stream(READ, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for await (const chunk of response.chunks()) expect(chunk.length).toBeGreaterThan(0);
  for (let i = 0; i < 2; i += 1) await expect(world.requester.stream(READ, signal)).rejects.toThrow();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("warnings are told once per text, as many as one header has", async () => {
  const told: string[] = [];
  const warning = '299 - "old \\"v1\\" is deprecated", 299 kube "unknown field \\"x\\"", 199 - "not ours"';
  const answer = { status: 200, body: {}, headers: { warning } };
  const world = setUp([answer, answer], { onWarning: (text) => told.push(text) });
  await world.ask(READ);
  await world.ask(READ);
  expect(told).toEqual(['old "v1" is deprecated', 'unknown field "x"']);
});

test("requests are counted by verb, kind and code", async () => {
  const meter = createRecordingMeter();
  const world = setUp([{ status: 404 }, broken], { meter });
  await world.ask(READ);
  await world.ask(WRITE);
  await world.ask(READ);
  const count = (verb: string, code: string): number | undefined =>
    meter.value("kube_client_requests_total", { verb, kind: "Thing", code });
  expect([count("get", "404"), count("update", "none"), count("get", "200")]).toEqual([1, 1, 1]);
});

test("a path that is not found is told apart from an object that is not", async () => {
  const object = { status: 404, body: { kind: "Status", reason: "NotFound", code: 404, details: { name: "a" } } };
  const world = setUp([object, { status: 404, body: "404 page not found" }]);
  await world.ask(READ);
  expect(world.unserved()).toBe(0);
  await world.ask(READ);
  expect(world.unserved()).toBe(1);
});
