import { notFound } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { headersFromContext, inSpan } from "@oaas/observability";
import { createAsyncContext, createTracer, closeTracer, type TracerOptions } from "@oaas/observability/node";
import { createRecordingLogger } from "@oaas/observability/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startOtlpReceiver, type OtlpReceiver, type OtlpSpan } from "./otlp-receiver.ts";

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
});
afterEach(() => receiver[Symbol.asyncDispose]());

const recording = createRecordingLogger();
const optionsFor = (more: Partial<TracerOptions> = {}): TracerOptions => ({
  service: "crm",
  version: "1.2.3",
  endpoint: receiver.endpoint,
  ...realAmbient,
  context: createAsyncContext(),
  log: recording.log,
  ...more,
});

const attributesOf = (list: OtlpSpan["attributes"]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

describe("export over OTLP", () => {
  test("spans arrive whole: names, parents, attributes, faults, times of the given clock", async () => {
    const ambient = virtualAmbient(7);
    const options = optionsFor({ clock: ambient.clock, random: ambient.random });
    const running = await createTracer(options);
    const remote = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true, traceState: "vendor=1" };
    let carried: Record<string, string> = {};
    const work = inSpan(
      running.tracer,
      "deploy",
      { kind: "server", parent: remote, attributes: { cluster: "eu" } },
      () =>
        inSpan(running.tracer, "apply", { kind: "client" }, async (span) => {
          carried = headersFromContext(options.context.current());
          span.setAttributes({ children: 3 });
          throw notFound("class", "c");
        }),
    );
    await expect(work).rejects.toThrow("was not found");
    await running.flush();

    expect(receiver.paths).toEqual(["/v1/traces"]);
    expect(attributesOf(receiver.resources[0] ?? [])).toMatchObject({
      "service.name": "crm",
      "service.version": "1.2.3",
    });
    const [apply, deploy] = receiver.spans;
    expect(deploy).toMatchObject({ name: "deploy", kind: 2, traceId: remote.traceId, parentSpanId: remote.spanId });
    expect(apply).toMatchObject({ name: "apply", kind: 3, traceId: remote.traceId, parentSpanId: deploy?.spanId });
    expect(attributesOf(deploy?.attributes ?? [])).toMatchObject({ cluster: "eu" });
    expect(attributesOf(apply?.attributes ?? [])).toMatchObject({
      children: 3,
      "oaas.fault.kind": "not-found",
      "oaas.fault.code": "OAAS_NOT_FOUND",
    });
    expect(apply?.status).toMatchObject({ code: 2, message: 'class "c" was not found' });
    expect(Number(deploy?.startTimeUnixNano) / 1e6).toBe(ambient.clock.now());
    expect(carried).toEqual({ traceparent: `00-${remote.traceId}-${apply?.spanId}-01`, tracestate: "vendor=1" });
    await closeTracer(running, options, 5000);
  });

  test("ids come from the given chance: the same seed gives the same ids", async () => {
    const idsOf = async (seed: number) => {
      const running = await createTracer(optionsFor({ random: virtualAmbient(seed).random }));
      const span = running.tracer.start("s");
      span.end();
      await running.shutdown();
      return span.context;
    };
    expect(await idsOf(1)).toEqual(await idsOf(1));
    expect(await idsOf(1)).not.toEqual(await idsOf(2));
  });

  test("a caller that does not sample is followed, and new traces by the ratio", async () => {
    const running = await createTracer(optionsFor({ sampleRatio: 0 }));
    const sampled = { traceId: "c".repeat(32), spanId: "d".repeat(16), sampled: true };
    const starts = [
      running.tracer.start("new"),
      running.tracer.start("no", { parent: { ...sampled, sampled: false } }),
    ];
    starts.push(running.tracer.start("yes", { parent: sampled }));
    for (const span of starts) span.end();
    await running.shutdown();
    expect(starts.map((span) => span.context?.sampled)).toEqual([false, false, true]);
    expect(receiver.spans.map((span) => span.name)).toEqual(["yes"]);
  });

  test("closing sends what is left", async () => {
    const options = optionsFor();
    const running = await createTracer(options);
    running.tracer.start("last").end();
    await closeTracer(running, options, 5000);
    expect(receiver.spans.map((span) => span.name)).toEqual(["last"]);
  });
});

describe("a collector that fails", () => {
  test("is reported once when it begins and once when it ends, and never throws into the work", async () => {
    const own = createRecordingLogger();
    const options = optionsFor({ log: own.log });
    const running = await createTracer(options);
    const exportOne = async (): Promise<void> => {
      running.tracer.start("s").end();
      await running.flush().catch(() => undefined);
    };
    receiver.behave("badly");
    await exportOne();
    await exportOne();
    receiver.behave("well");
    await exportOne();
    expect(own.records.map((record) => record.message)).toEqual([
      "traces cannot be exported",
      "traces are exported again",
    ]);
    await running.shutdown();
  });

  test("that hangs does not hold up the stop beyond the bound", async () => {
    const own = createRecordingLogger();
    const ambient = virtualAmbient(1);
    const options = optionsFor({ log: own.log, clock: ambient.clock, timers: ambient.timers });
    const running = await createTracer(options);
    receiver.behave("not at all");
    running.tracer.start("s").end();
    const closed = closeTracer(running, options, 2000);
    await ambient.time.advance(1999);
    expect(own.records).toEqual([]);
    await ambient.time.advance(1);
    await closed;
    expect(own.only("the last traces were not exported").fields).toMatchObject({
      fault: { kind: "deadline-exceeded" },
    });
  });

  test("on the port of gRPC is pointed out at once", async () => {
    const own = createRecordingLogger();
    const running = await createTracer(optionsFor({ endpoint: "http://127.0.0.1:4317", log: own.log }));
    await running.shutdown();
    expect(own.messages("warn")[0]).toContain("OTLP over gRPC");
  });
});
