import { Fault, unavailable } from "@oaas/foundation";
import { VirtualTime } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CorrelationId } from "../correlation.ts";
import { LOG_LEVELS, NOOP_LOGGER, type LogThreshold } from "../logger.ts";
import { createRecordingLogger } from "../testing/index.ts";
import type { ContextStore } from "../work-context.ts";
import { createPinoLogger } from "./pino-logger.ts";

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
    const written: string[] = [];
    const destination = { write: (line: string) => void written.push((JSON.parse(line) as { level: string }).level) };
    const log = createPinoLogger({ clock: { now: () => 0 }, level, destination });
    for (const each of LOG_LEVELS) log[each]("m");
    expect(written).toEqual(want);
    expect(LOG_LEVELS.filter((each) => log.isEnabled(each))).toEqual(want);
  });

  test.each<LogThreshold>(["error", "off"])(
    "a child with its own level writes although the logger is at %s",
    (level) => {
      const written: string[] = [];
      const destination = {
        write: (line: string) => void written.push((JSON.parse(line) as { message: string }).message),
      };
      const log = createPinoLogger({ clock: { now: () => 0 }, level, destination });
      const audit = log.child({ audit: true }, { level: "warn" });
      audit.child({ more: 1 }).warn("grandchild");
      audit.warn("child", { audit: "overridden" });
      audit.info("too low");
      log.warn("parent");
      expect(written).toEqual(["grandchild", "child"]);
    },
  );

  test("the no-op logger and its children write nothing", () => {
    NOOP_LOGGER.child({ a: 1 }).fatal("m");
    expect(NOOP_LOGGER.isEnabled("fatal")).toBe(false);
  });
});

test("takes the time of a line from the given clock", async () => {
  const time = new VirtualTime(Date.UTC(2030, 0, 1));
  const recording = createRecordingLogger({ clock: time });
  recording.log.info("first");
  await time.advance(1500);
  recording.log.info("second");
  expect(recording.records.map((record) => record.time - Date.UTC(2030, 0, 1))).toEqual([0, 1500]);
});

test("a field of the line overrides a bound field, which overrides a field of the context", () => {
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

test("writes each key once when a line overrides a bound field", () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createPinoLogger({ clock: { now: () => 0 }, level: "info", destination, fields: { service: "pm" } });
  log.child({ cluster: "a", unit: "u" }).child({ cluster: "b" }).info("m", { cluster: "c" });
  expect(lines).toEqual([
    '{"level":"info","time":"1970-01-01T00:00:00.000Z","service":"pm","unit":"u","cluster":"c","message":"m"}\n',
  ]);
});

test("redacts secrets in bound fields", () => {
  const { log, records } = createRecordingLogger();
  log.child({ request: { headers: { authorization: "Bearer abcdefgh" } } }).info("m");
  expect(records[0]?.fields).toEqual({ request: { headers: { authorization: "***" } } });
});

test("drops the line when the destination throws", () => {
  const destination = {
    write: () => {
      throw new Error("broken");
    },
  };
  const log = createPinoLogger({ clock: { now: () => 0 }, level: "trace", destination });
  expect(() => log.error("m")).not.toThrow();
});

test("writes one JSON line for fields of any shape", () => {
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
      const lines: string[] = [];
      const destination = { write: (line: string) => void lines.push(line) };
      createPinoLogger({ clock: { now: () => 0 }, level: "trace", destination }).info("m", fields);
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "info", message: "m" });
    }),
  );
});
