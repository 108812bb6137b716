import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { createObservability, type ObservabilityOptions } from "./observability.ts";

const observe = (log: Partial<ObservabilityOptions["log"]>) => {
  const lines: string[] = [];
  const observability = createObservability({
    service: "pm",
    version: "1.0.0",
    ambient: virtualAmbient(1),
    log: {
      level: "info",
      format: "auto",
      isTerminal: false,
      destination: { write: (line) => void lines.push(line) },
      ...log,
    },
    metrics: { strict: true },
  });
  return { observability, lines };
};

describe("the log format", () => {
  test.each([
    { format: "auto", isTerminal: false, colors: true, first: "{" },
    { format: "auto", isTerminal: true, colors: true, first: "\u001b" },
    { format: "auto", isTerminal: true, colors: false, first: "0" },
    { format: "plain", isTerminal: false, colors: true, first: "0" },
    { format: "json", isTerminal: true, colors: true, first: "{" },
  ] as const)("$format, terminal $isTerminal, colours $colors", ({ first, ...log }) => {
    const { observability, lines } = observe(log);
    observability.log.info("started");
    expect(lines[0]?.charAt(0)).toBe(first);
  });
});

test("log lines carry the service and the context; the meter serves its metrics", async () => {
  const { observability, lines } = observe({ level: "debug" });
  const { context, log, meter } = observability;
  const span = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };
  context.run({ span }, () => log.debug("inside"));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ service: "pm", version: "1.0.0", trace_id: span.traceId });
  meter.counter({ name: "c", help: "h" }).add(1);
  expect(await meter.text()).toContain("c 1");
});
