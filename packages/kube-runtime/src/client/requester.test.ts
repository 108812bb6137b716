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
  /** Sends a call and advances time until it completes. */
  const send = async (
    call: ApiCall,
    deadlineMs?: number,
  ): Promise<{ value?: unknown; fault?: Fault; tookMs: number }> => {
    const from = ambient.time.monotonic();
    const response = requester.json(call, deadlineMs === undefined ? {} : { deadlineMs }).then(
      (value) => ({ value }),
      (fault: Fault) => ({ fault }),
    );
    // Every wait of a call has a timer, so without timers the call is over.
    while (await ambient.time.step());
    return { ...(await response), tookMs: ambient.time.monotonic() - from };
  };
  return { time: ambient.time, transport, requester, send, unserved: () => unserved };
}

const broken = unavailable("server", "reset");
const after = (status: number, seconds: string): Answer => ({ status, headers: { "retry-after": seconds } });

describe("retries", () => {
  test.each([
    { reason: "the server did nothing", call: READ, first: { status: 429 }, again: true },
    { reason: "the server did nothing", call: WRITE, first: { status: 429 }, again: true },
    { reason: "the server requests a retry", call: WRITE, first: after(503, "1"), again: true },
    { reason: "the write may have succeeded", call: WRITE, first: { status: 503 }, again: false },
    { reason: "the write may have succeeded", call: WRITE, first: { status: 500 }, again: false },
    { reason: "the write may have succeeded", call: WRITE, first: broken, again: false },
    { reason: "reads are idempotent", call: READ, first: { status: 500 }, again: true },
    { reason: "reads are idempotent", call: READ, first: broken, again: true },
    { reason: "it would be rejected again", call: READ, first: { status: 403 }, again: false },
    { reason: "it would be rejected again", call: READ, first: { status: 404 }, again: false },
    { reason: "the caller must read first", call: WRITE, first: { status: 409 }, again: false },
    { reason: "the call allows one attempt", call: { ...READ, once: true }, first: broken, again: false },
    {
      reason: "an unparsable body may come from a proxy",
      call: READ,
      first: { status: 502, body: "<html>" },
      again: true,
    },
  ])("$call.method after $first.status$first.kind: $again, because $reason", async ({ call, first, again }) => {
    const fixture = setUp([first]);
    const { fault } = await fixture.send(call);
    expect(fixture.transport.sent).toHaveLength(again ? 2 : 1);
    expect(fault === undefined).toBe(again);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("waits for the Retry-After of the server", async () => {
    const { tookMs } = await setUp([after(429, "7"), after(429, "3")]).send(WRITE);
    expect(tookMs).toBeGreaterThanOrEqual(10_000);
    expect(tookMs).toBeLessThan(11_000);
  });

  test("bounds the number of attempts", async () => {
    const fixture = setUp(Array.from({ length: 50 }, () => ({ status: 429 })));
    expect((await fixture.send(READ, 3_600_000)).fault?.kind).toBe("resource-exhausted");
    expect(fixture.transport.sent).toHaveLength(10);
  });
});

describe("deadlines and cancellation", () => {
  test("ends a hanging call at its deadline, also while it waits for the body", async () => {
    for (const step of ["hang", { status: 200, body: "hang" }] as const) {
      const { fault, tookMs } = await setUp([step]).send(READ, 5_000);
      expect([fault?.kind, tookMs]).toEqual(["deadline-exceeded", 5_000]);
    }
  });

  test("applies the deadline to all attempts and keeps the last failure as the reason", async () => {
    const { fault, tookMs } = await setUp([after(429, "60")]).send(READ, 5_000);
    expect(fault?.kind).toBe("resource-exhausted");
    expect(tookMs).toBeLessThan(5_000);
  });

  test("cancels at once, also while queued or between attempts", async () => {
    const caller = new AbortController();
    const fixture = setUp([after(429, "3"), "hang"], { flow: { perSecond: 1000, burst: 1000, inFlight: 1 } });
    const first = fixture.requester.json(READ, { signal: caller.signal });
    const second = fixture.requester.json(READ, { signal: caller.signal });
    const third = fixture.requester.json(READ, { signal: caller.signal });
    const all = Promise.allSettled([first, second, third]);
    await fixture.time.advance(100);
    caller.abort(new Fault({ kind: "cancelled" }, "enough"));
    await fixture.time.advance(0);
    expect((await all).map((each) => each.status === "rejected" && (each.reason as Fault).kind)).toEqual([
      "cancelled",
      "cancelled",
      "cancelled",
    ]);
    expect(fixture.time.pendingTimers).toBe(0);
  });

  test("maps a response that is not JSON to unavailable, with its start for the log", async () => {
    const { fault } = await setUp([{ status: 200, body: "<html>login</html>" }]).send(WRITE);
    expect(fault).toMatchObject({ kind: "unavailable", context: { start: "<html>login</html>" } });
  });
});

describe("streams", () => {
  test("limits the time to open a stream and to read its error body", async () => {
    for (const step of ["hang", { status: 500, body: "hang" }] as const) {
      const fixture = setUp([step]);
      const opened = expect(fixture.requester.stream(READ, new AbortController().signal)).rejects.toMatchObject({
        kind: "deadline-exceeded",
      });
      await fixture.time.advance(30_000);
      await opened;
      expect(fixture.time.pendingTimers).toBe(0);
    }
  });

  test("has no deadline once open, and ends with the signal", async () => {
    const fixture = setUp([]);
    const caller = new AbortController();
    await fixture.requester.stream(READ, caller.signal);
    await fixture.time.advance(3_600_000);
    const [request] = fixture.transport.sent;
    expect(request?.signal.aborted).toBe(false);
    caller.abort();
    expect(request?.signal.aborted).toBe(true);
  });
});

test("removes listeners of finished streams from the signal", async () => {
  const fixture = setUp([{ status: 200 }, { status: 500 }, broken]);
  const { signal } = new AbortController();
  const response = await fixture.requester.stream(READ, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for await (const chunk of response.chunks()) expect(chunk.length).toBeGreaterThan(0);
  for (let i = 0; i < 2; i += 1) await expect(fixture.requester.stream(READ, signal)).rejects.toThrow();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("logs each warning text once, also several of one header", async () => {
  const warnings: string[] = [];
  const warning = '299 - "old \\"v1\\" is deprecated", 299 kube "unknown field \\"x\\"", 199 - "not ours"';
  const answer = { status: 200, body: {}, headers: { warning } };
  const fixture = setUp([answer, answer], { onWarning: (text) => warnings.push(text) });
  await fixture.send(READ);
  await fixture.send(READ);
  expect(warnings).toEqual(['old "v1" is deprecated', 'unknown field "x"']);
});

test("counts requests by verb, kind and code", async () => {
  const meter = createRecordingMeter();
  const fixture = setUp([{ status: 404 }, broken], { meter });
  await fixture.send(READ);
  await fixture.send(WRITE);
  await fixture.send(READ);
  const count = (verb: string, code: string): number | undefined =>
    meter.value("kube_client_requests_total", { verb, kind: "Thing", code });
  expect([count("get", "404"), count("update", "none"), count("get", "200")]).toEqual([1, 1, 1]);
});

test("distinguishes a missing path from a missing object", async () => {
  const object = { status: 404, body: { kind: "Status", reason: "NotFound", code: 404, details: { name: "a" } } };
  const fixture = setUp([object, { status: 404, body: "404 page not found" }]);
  await fixture.send(READ);
  expect(fixture.unserved()).toBe(0);
  await fixture.send(READ);
  expect(fixture.unserved()).toBe(1);
});
