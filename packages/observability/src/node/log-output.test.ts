import { unavailable } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import type { CorrelationId } from "../correlation.ts";
import type { Logger } from "../logger.ts";
import { inContext } from "../work-context.ts";
import { createAsyncContext } from "./async-context.ts";
import { createPinoLogger, createPrettyDestination, type LogDestination } from "./index.ts";

const clock = { now: () => Date.UTC(2026, 10, 15, 4, 41, 36, 123) };

const capture = (wrap: (destination: LogDestination) => LogDestination) => {
  const lines: string[] = [];
  const context = createAsyncContext();
  const destination = wrap({ write: (line) => void lines.push(line) });
  const log: Logger = createPinoLogger({ clock, destination, level: "trace", context, fields: { service: "crm" } });
  return { lines, log, context };
};

const fault = unavailable("etcd", "etcd is down", { cause: new Error("connect ECONNREFUSED") });

describe("JSON lines", () => {
  const json = () => capture((destination) => destination);

  test("writes level and time first and the message last", () => {
    const { lines, log } = json();
    log.info("unit accepted", { cluster: "eu", replicas: 3 });
    expect(lines).toEqual([
      '{"level":"info","time":"2026-11-15T04:41:36.123Z","service":"crm","cluster":"eu","replicas":3,"message":"unit accepted"}\n',
    ]);
  });

  test.each(["trace", "debug", "info", "warn", "error", "fatal"] as const)("writes the level %s by name", (level) => {
    const { lines, log } = json();
    log[level]("m");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level, message: "m" });
  });

  test("adds correlation id, deployment id and trace id of the async context", async () => {
    const { lines, log, context } = json();
    const span = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };
    await context.run({ correlationId: "c1" as CorrelationId, span }, async () => {
      await new Promise<void>((resolve) => void setImmediate(resolve));
      await inContext(context, { deploymentId: "d1" }, async () => {
        await Promise.resolve();
        log.info("inside");
      });
      log.info("after", { correlation_id: "explicit" });
    });
    log.info("outside");
    const [inside, after, outside] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(inside).toMatchObject({
      correlation_id: "c1",
      deployment_id: "d1",
      trace_id: span.traceId,
      span_id: span.spanId,
    });
    expect(after).toMatchObject({ correlation_id: "explicit" });
    expect(after).not.toHaveProperty("deployment_id");
    expect(outside).not.toHaveProperty("correlation_id");
  });

  test("writes the causes of a fault and redacts secrets", () => {
    const { lines, log } = json();
    log.error("save failed", { fault, token: "hunter2" });
    const line = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    expect(line).toMatchObject({
      token: "***",
      fault: { kind: "unavailable", code: "OAAS_UNAVAILABLE", cause: { message: "connect ECONNREFUSED" } },
    });
  });

  test("escapes format specifiers, JSON and line breaks", () => {
    const { lines, log } = json();
    log.info('100% %s %j "quoted"\n', { text: '"}\n{' });
    expect(lines[0]?.split("\n")).toHaveLength(2);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: '100% %s %j "quoted"\n', text: '"}\n{' });
  });
});

describe("pretty lines", () => {
  const pretty = (withColors: boolean) => capture((destination) => createPrettyDestination(destination, withColors));

  test("writes time, level, message and fields on one line", () => {
    const { lines, log } = pretty(false);
    log.warn("slow answer", { cluster: "eu", ms: 12.5, note: "two words", list: [1, "a"] });
    expect(lines).toEqual([
      '04:41:36.123 WARN  slow answer service=crm cluster=eu ms=12.5 note="two words" list=[1,"a"]\n',
    ]);
  });

  test("writes a fault on indented lines with causes and stack frames", () => {
    const { lines, log } = pretty(false);
    log.error("save failed", { fault });
    const [head, first, second, frame] = (lines[0] ?? "").split("\n");
    expect(head).toBe("04:41:36.123 ERROR save failed service=crm");
    expect(first).toBe("    unavailable OAAS_UNAVAILABLE: etcd is down dependency=etcd");
    expect(second).toBe("    caused by Error: connect ECONNREFUSED");
    expect(frame).toMatch(/^ {6}at .*log-output\.test\.ts/);
  });

  test.each([["a text"], [5], [null], [{ odd: true }], [new Error("plain")]])(
    "accepts %j in place of a fault",
    (odd) => {
      const { lines, log } = pretty(false);
      log.error("m", { fault: odd });
      expect(lines[0]?.split("\n").length).toBeGreaterThan(2);
    },
  );

  test("uses colours only when enabled", () => {
    const [coloured, plain] = [pretty(true), pretty(false)];
    coloured.log.info("m");
    plain.log.info("m");
    expect(coloured.lines[0]).toContain("\u001b[");
    expect(plain.lines[0]).not.toContain("\u001b[");
  });

  test("escapes control characters", () => {
    const { lines, log } = pretty(false);
    log.info("a\u001b[2Jb\nc", { "k\n": "\u009bx", fault: { message: "x\ny" } });
    expect(lines[0]).toBe("04:41:36.123 INFO  a\\u001b[2Jb\\u000ac service=crm k\\u000a=\\u009bx\n    : x\\u000ay\n");
  });
});
