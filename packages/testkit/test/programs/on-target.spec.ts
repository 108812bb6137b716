import { expect, it } from "vitest";
import { describeOnTarget } from "../../src/index.ts";

describeOnTarget("a suite for both", {}, () => {
  it("runs on either API server", () => {
    expect(1).toBe(1);
  });
});

describeOnTarget("a suite of etcd's own ways", { realOnly: "there is no etcd behind the embedded API server" }, () => {
  it("runs on the real one alone", () => {
    expect(1).toBe(1);
  });
});
