import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { createObservability, type ObservabilityOptions } from "./observability.ts";

const observe = async (log: Partial<ObservabilityOptions["log"]>) => {
  const lines: string[] = [];
  const observability = await createObservability({
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

describe("the form of the log", () => {
  test.each([
    { format: "auto", isTerminal: false, colors: true, first: "{" },
    { format: "auto", isTerminal: true, colors: true, first: "\u001b" },
    { format: "auto", isTerminal: true, colors: false, first: "0" },
    { format: "plain", isTerminal: false, colors: true, first: "0" },
    { format: "json", isTerminal: true, colors: true, first: "{" },
  ] as const)("$format, terminal $isTerminal, colours $colors", async ({ first, ...log }) => {
    const { observability, lines } = await observe(log);
    observability.log.info("started");
    expect(lines[0]?.charAt(0)).toBe(first);
  });
});

test("all parts share one context, and closing twice is closing once", async () => {
  const { observability, lines } = await observe({ level: "debug" });
  const { tracer, context, log, meter } = observability;
  const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: true };
  context.run({ span: parent }, () => tracer.run(tracer.start("work"), () => log.debug("inside")));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ service: "pm", version: "1.0.0", trace_id: parent.traceId });
  meter.counter({ name: "c", help: "h" }).add(1);
  expect(await meter.text()).toContain("c 1");
  expect(observability.close()).toBe(observability.close());
  await observability.close();
});
