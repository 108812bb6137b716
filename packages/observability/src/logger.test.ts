import { Fault, unavailable } from "@oaas/foundation";
import { VirtualTime } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLogger, LOG_LEVELS, NOOP_LOGGER, type LogRecord, type LogThreshold } from "./logger.ts";
import { createRecordingLogger } from "./testing/index.ts";
import type { CorrelationId } from "./correlation.ts";
import type { ContextStore } from "./work-context.ts";

const contextOf = (correlationId: string): ContextStore => ({
  current: () => ({
    correlationId: correlationId as CorrelationId,
    deploymentId: "d1",
    span: { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true },
  }),
  run: (_context, work) => work(),
});

describe("levels", () => {
  test.each<[LogThreshold, readonly string[]]>([
    ["trace", ["trace", "debug", "info", "warn", "error", "fatal"]],
    ["warn", ["warn", "error", "fatal"]],
    ["off", []],
  ])("%s writes %j", (level, want) => {
    const seen: string[] = [];
    const log = createLogger({ clock: { now: () => 0 }, level, sink: (record) => void seen.push(record.level) });
    for (const each of LOG_LEVELS) log[each]("m");
    expect(seen).toEqual(want);
    expect(LOG_LEVELS.filter((each) => log.isEnabled(each))).toEqual(want);
  });

  test("the noop writes nothing and makes noops", () => {
    NOOP_LOGGER.child({ a: 1 }).fatal("m");
    expect(NOOP_LOGGER.isEnabled("fatal")).toBe(false);
  });
});

test("time is the given clock's and nobody else's", async () => {
  const time = new VirtualTime(Date.UTC(2030, 0, 1));
  const recording = createRecordingLogger({ clock: time });
  recording.log.info("first");
  await time.advance(1500);
  recording.log.info("second");
  expect(recording.records.map((record) => record.time - Date.UTC(2030, 0, 1))).toEqual([0, 1500]);
});

test("a line's field wins over a bound one, which wins over the context", () => {
  const { log, records } = createRecordingLogger({ context: contextOf("from-context") });
  log.info("context");
  log.child({ correlation_id: "bound", cluster: "a" }).info("bound");
  log.child({ correlation_id: "bound" }).child({ cluster: "b" }).info("line", { correlation_id: "line" });
  const base = { deployment_id: "d1", trace_id: "a".repeat(32), span_id: "b".repeat(16) };
  expect(records.map((record) => record.fields)).toEqual([
    { ...base, correlation_id: "from-context" },
    { ...base, correlation_id: "bound", cluster: "a" },
    { ...base, correlation_id: "line", cluster: "b" },
  ]);
});

test("fields cannot overwrite time, level or message", () => {
  const { log, records } = createRecordingLogger();
  log.info("m", { level: "fatal", time: 1, message: "other" });
  expect(records[0]).toMatchObject({
    level: "info",
    message: "m",
    fields: { level_: "fatal", time_: 1, message_: "other" },
  });
});

test("a sink that throws costs its line and nothing else", () => {
  const log = createLogger({
    clock: { now: () => 0 },
    level: "trace",
    sink: () => {
      throw new Error("broken");
    },
  });
  expect(() => log.error("m")).not.toThrow();
});

test("no fields make it throw, and all come out as JSON", () => {
  const nasty = fc.oneof(
    fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
    }),
    fc.constant({
      get trap(): never {
        throw new Error("trap");
      },
    }),
    fc.constant(Object.assign(new Error("odd"), { message: 5n, cause: Symbol("cause") })),
    fc.constant(new Proxy({}, { ownKeys: () => ["a"], get: () => unavailable("x", "y") })),
    fc.constant(new Fault({ kind: "internal" }, "m", { context: { self: globalThis } })),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.string(), nasty), (fields) => {
      const records: LogRecord[] = [];
      createLogger({ clock: { now: () => 0 }, level: "trace", sink: (record) => void records.push(record) }).info(
        "m",
        fields,
      );
      expect(records).toHaveLength(1);
      expect(typeof JSON.stringify(records[0])).toBe("string");
    }),
  );
});
