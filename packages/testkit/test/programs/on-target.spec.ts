import { expect, it } from "vitest";
import { describeOnTarget } from "../../src/index.ts";

describeOnTarget("a suite for both", {}, () => {
  it("runs on either API server", () => {
    expect(1).toBe(1);
  });
});

describeOnTarget("a suite about etcd", { realOnly: "the embedded API server has no etcd" }, () => {
  it("runs on the real API server only", () => {
    expect(1).toBe(1);
  });
});
