import { expect, test } from "vitest";
import { expectOneTree, startReceiver } from "./traced-deployment.ts";

test("traces are one connected tree per deployment, from the request to the Kubernetes requests of each cluster", async () => {
  expect.hasAssertions();
  const receiver = await startReceiver();
  try {
    await expectOneTree(receiver.url, receiver);
  } finally {
    receiver.close();
  }
});
