import { describeWith, startKnative, type KnativeUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, test } from "vitest";
import {
  applyExample,
  deleteExample,
  startExample,
  waitForKnative,
  waitForReplicas,
  type ExampleUnderTest,
} from "../src/function-pods.ts";

const COMPONENTS = ["kubernetes", "kwok", "knative-manifests", "knative"] as const;

describeWith(COMPONENTS, "the example function-pods on real Knative", () => {
  let example: ExampleUnderTest;
  let knative: KnativeUnderTest | undefined;
  beforeAll(async () => {
    example = await startExample();
    knative = await startKnative(example.kube);
  });
  afterAll(async () => {
    await knative?.close();
    await example?.[Symbol.asyncDispose]();
  });

  test("runs, scales to zero and back, and leaves nothing", async () => {
    await waitForKnative(example);
    const { metadata } = await applyExample(example);
    await waitForReplicas(example, "1/1");
    // Without an activator, the autoscaler decides on zero and does not carry it out: the test does.
    const deployment = `deployment ${metadata.name}-00001-deployment -n billing`;
    await example.kubectl(`scale ${deployment} --replicas=0`);
    await waitForReplicas(example, "0/0");
    await example.kubectl(`scale ${deployment} --replicas=1`);
    await waitForReplicas(example, "1/1");
    await deleteExample(example);
  });
});
