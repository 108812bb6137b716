import { addKnativeKinds, describeWith } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  applyExample,
  deleteExample,
  startExample,
  waitForKnative,
  waitForReplicas,
  type ExampleUnderTest,
} from "../src/function-pods.ts";

describeWith(["kubernetes", "kwok", "knative-manifests"], "the example function-pods on a real API server", () => {
  let example: ExampleUnderTest;
  beforeAll(async () => {
    example = await startExample();
  });
  afterAll(async () => {
    await example?.[Symbol.asyncDispose]();
  });

  test("is refused before Knative is installed, with the remedy", async () => {
    const { code, err } = await example.oaas("apply -f -");
    expect(code).not.toBe(0);
    expect(err).toContain("Invoice.send has min_scale 0, but cluster cloud has no template that can scale to zero");
    expect(err).toContain("install Knative Serving");
  });

  test("waits for its Secret and ConfigMap, and runs without a replica", async () => {
    await addKnativeKinds(example.kube.kubectl);
    await waitForKnative(example);
    const { metadata } = await applyExample(example);
    // Knative is not installed, only its kinds: the test reports what it would.
    const status = {
      observedGeneration: metadata.generation,
      url: "http://billing.example.test",
      conditions: [{ type: "Ready", status: "True" }],
    };
    await example.kubectl(
      `patch ksvc ${metadata.name} -n billing --subresource=status --type=merge -p ${JSON.stringify({ status })}`,
    );
    await waitForReplicas(example, "0/0");
    await deleteExample(example);
  });
});
