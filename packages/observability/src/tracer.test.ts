import { notFound } from "@oaas/foundation";
import { VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { createAsyncContext } from "./node/async-context.ts";
import { createRecordingTracer } from "./testing/index.ts";
import { createPropagatingTracer, inSpan, NOOP_TRACER } from "./tracer.ts";

const remote = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };

describe("inSpan", () => {
  test("spans inside become children, also across awaits and timers", async () => {
    const time = new VirtualTime(0);
    const context = createAsyncContext();
    const { tracer, spans } = createRecordingTracer(context, time);
    const work = inSpan(tracer, "outer", { kind: "server", parent: remote, attributes: { a: 1 } }, async (outer) => {
      await new Promise<void>((resolve) => void time.after(10, resolve));
      outer.setAttributes({ b: true });
      await inSpan(tracer, "inner", {}, async () => undefined);
    });
    await time.advance(10);
    await work;
    expect(spans).toMatchObject([
      {
        name: "outer",
        kind: "server",
        parentSpanId: remote.spanId,
        attributes: { a: 1, b: true },
        startedAt: 0,
        endedAt: 10,
      },
      { name: "inner", kind: "internal", parentSpanId: spans[0]?.context.spanId, startedAt: 10, endedAt: 10 },
    ]);
    expect(new Set(spans.map((span) => span.context.traceId))).toEqual(new Set([remote.traceId]));
  });

  test("a fault is recorded, the span ended, and the fault thrown on", async () => {
    const { tracer, spans } = createRecordingTracer(createAsyncContext());
    const fault = notFound("package", "p");
    await expect(inSpan(tracer, "work", {}, () => Promise.reject(fault))).rejects.toBe(fault);
    expect(spans[0]).toMatchObject({ faultCode: "OAAS_NOT_FOUND", endedAt: 0 });
  });
});

describe("without tracing", () => {
  test("a caller's trace is carried through", async () => {
    const context = createAsyncContext();
    const tracer = createPropagatingTracer(context);
    const seen = await inSpan(tracer, "work", { parent: remote }, async () => context.current().span);
    expect(seen).toEqual(remote);
    expect(context.current().span).toBeUndefined();
  });

  test("the noop runs the work and traces nothing", async () => {
    expect(await inSpan(NOOP_TRACER, "work", {}, async (span) => span.context)).toBeUndefined();
  });
});

test("work side by side keeps its own context", async () => {
  const context = createAsyncContext();
  const seen = await Promise.all(
    ["a", "b", "c"].map((deploymentId) =>
      context.run({ deploymentId }, async () => {
        await Promise.resolve();
        return context.current().deploymentId;
      }),
    ),
  );
  expect(seen).toEqual(["a", "b", "c"]);
});
