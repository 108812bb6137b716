import { describe, expect, it } from "vitest";
import { isFault } from "@oaas/foundation";
import { kubeTarget, startKubeTarget } from "./kube-target.ts";
import { kubeconfigText, tokenFile } from "./kubeconfig.ts";

const USERS = [
  { name: "admin", token: "t1", groups: ["system:masters", "b"] },
  { name: "viewer", token: "t2" },
];

describe("users of a cluster", () => {
  it("are lines of the token file, groups quoted as one column", () => {
    expect(tokenFile(USERS)).toBe('t1,admin,admin,"system:masters,b"\nt2,viewer,viewer,""\n');
  });

  it("are all in the kubeconfig; the first is current", () => {
    const config = JSON.parse(kubeconfigText("https://127.0.0.1:1", "CA", USERS)) as Record<string, unknown>;
    expect(config["users"]).toEqual([
      { name: "admin", user: { token: "t1" } },
      { name: "viewer", user: { token: "t2" } },
    ]);
    expect(config["contexts"]).toEqual([{ name: "test", context: { cluster: "test", user: "admin" } }]);
  });
});

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
