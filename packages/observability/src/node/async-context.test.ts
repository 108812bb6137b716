import { expect, test } from "vitest";
import { createAsyncContext } from "./async-context.ts";

test("concurrent work keeps separate contexts", async () => {
  const context = createAsyncContext();
  const deploymentIds = await Promise.all(
    ["a", "b", "c"].map((deploymentId) =>
      context.run({ deploymentId }, async () => {
        await Promise.resolve();
        return context.current().deploymentId;
      }),
    ),
  );
  expect(deploymentIds).toEqual(["a", "b", "c"]);
  expect(context.current()).toEqual({});
});
