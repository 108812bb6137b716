import { describeWith, startOtelCollector } from "@oaas/testkit";
import { expect, test } from "vitest";
import { expectOneTree, startReceiver } from "./traced-deployment.ts";

describeWith(["otel-collector"], "traces through the real OpenTelemetry Collector", () => {
  test("are one connected tree per deployment", async () => {
    expect.hasAssertions();
    const receiver = await startReceiver();
    try {
      await using collector = await startOtelCollector(receiver.url);
      await expectOneTree(collector.url, receiver);
    } finally {
      receiver.close();
    }
  });
});
