import { isFault } from "@oaas/foundation";
import { describe, expect, it } from "vitest";
import { kubeTarget, startKubeTarget } from "./kube-target.ts";

describe("KUBE_TARGET", () => {
  it.each([
    ["", "real"],
    ["real", "real"],
    ["embedded", "embedded"],
  ])("%j means %s", (value, target) => {
    expect(kubeTarget(value)).toBe(target);
  });

  it("refuses anything else by name", () => {
    expect(() => kubeTarget("minikube")).toThrow(/KUBE_TARGET.*minikube/);
  });

  it("says that the embedded server is not part of this build", async () => {
    const thrown = await startKubeTarget({}, "embedded").catch((error: unknown) => error);
    expect(isFault(thrown, "unimplemented")).toBe(true);
  });
});
