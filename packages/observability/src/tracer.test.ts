import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, it } from "vitest";
import { createAsyncContext } from "./node/async-context.ts";
import { createSampler } from "./sampler.ts";
import { createRecordingTracer } from "./testing/index.ts";
import { parseTraceparent } from "./trace-context.ts";
import { createTracer, NOOP_TRACER, type FinishedSpan } from "./tracer.ts";

const REMOTE = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };

function setUp() {
  const { ids, time } = virtualAmbient(1);
  const context = createAsyncContext();
  return { ids, time, context, tracer: createRecordingTracer({ context, ids, clock: time }) };
}

describe("tracer", () => {
  it("makes nested spans children, also after an await", async () => {
    const { tracer } = setUp();
    await tracer.run({ name: "outer" }, async () => {
      await Promise.resolve();
      await tracer.run({ name: "inner" }, async () => undefined);
    });
    const [inner, outer] = tracer.spans;
    expect([inner?.name, inner?.parentSpanId]).toEqual(["inner", outer?.context.spanId]);
    expect(inner?.context.traceId).toBe(outer?.context.traceId);
    expect(outer?.parentSpanId).toBeUndefined();
    expect(outer?.context.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(outer?.context.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it("continues the trace of a remote parent, and starts a new one at a root with a link", async () => {
    const { tracer, context } = setUp();
    await context.run({ span: REMOTE }, () =>
      tracer.run({ name: "served" }, () =>
        tracer.run({ name: "later", parent: "root", links: [REMOTE] }, async () => undefined),
      ),
    );
    const [later, served] = tracer.spans;
    expect([served?.context.traceId, served?.parentSpanId]).toEqual([REMOTE.traceId, REMOTE.spanId]);
    expect(later?.context.traceId).not.toBe(REMOTE.traceId);
    expect(later?.links).toEqual([REMOTE]);
  });

  it("records the failure and the kind of a rejected work", async () => {
    const { tracer } = setUp();
    const failure = Object.assign(new Error("no quorum"), { kind: "unavailable" });
    await expect(tracer.run({ name: "call" }, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(tracer.spans[0]).toMatchObject({ failure: "no quorum", attributes: { "error.type": "unavailable" } });
  });

  it("records nothing for a child-only span without a parent", async () => {
    const { tracer } = setUp();
    await tracer.run({ name: "renew lease", childOnly: true }, async ({ context }) => expect(context).toBeUndefined());
    expect(tracer.spans).toEqual([]);
  });

  it("bounds the number and the size of attributes", async () => {
    const { tracer } = setUp();
    await tracer.run({ name: "big" }, async (span) => {
      span.set(Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`a${at}`, "x".repeat(5_000)])));
    });
    const attributes = tracer.spans[0]?.attributes ?? {};
    expect(Object.keys(attributes)).toHaveLength(64);
    expect(attributes["a0"]).toHaveLength(1_024);
  });

  it("forwards the decision not to sample to all children", async () => {
    const { ids, time, context } = setUp();
    const spans: FinishedSpan[] = [];
    const sampler = createSampler("parentbased_traceidratio", 0);
    const tracer = createTracer({ clock: time, ids, context, sampler, sink: { add: (span) => void spans.push(span) } });
    await tracer.run({ name: "outer" }, () =>
      tracer.run({ name: "inner" }, async (span) => expect(span.context?.sampled).toBe(false)),
    );
    expect(spans).toEqual([]);
  });

  it("leaves the trace of the caller in place without a tracer", async () => {
    const { context } = setUp();
    await context.run({ span: REMOTE }, () =>
      NOOP_TRACER.run({ name: "x" }, async () => expect(context.current().span).toEqual(REMOTE)),
    );
  });
});

describe("createSampler", () => {
  const traceId = (random: string) => `0123456789abcdef012${random}`;

  it("compares the random part of the trace id with the ratio", () => {
    const sampler = createSampler("traceidratio", 0.5);
    expect(sampler(traceId("0000000000000"), undefined)).toBe(true);
    expect(sampler(traceId("7ffffffffffff"), undefined)).toBe(true);
    expect(sampler(traceId("8000000000000"), undefined)).toBe(false);
  });

  it("follows the parent only when it is parent-based", () => {
    const parent = parseTraceparent(`00-${REMOTE.traceId}-${REMOTE.spanId}-00`);
    expect(createSampler("parentbased_always_on")(REMOTE.traceId, parent)).toBe(false);
    expect(createSampler("always_on")(REMOTE.traceId, parent)).toBe(true);
    expect(createSampler("parentbased_always_off")(REMOTE.traceId, REMOTE)).toBe(true);
    expect(createSampler("always_off")(REMOTE.traceId, REMOTE)).toBe(false);
  });
});
