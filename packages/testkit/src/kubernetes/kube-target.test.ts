import { readFileSync } from "node:fs";
import { eventually, probe } from "@oaas/real-components";
import { describe, expect, it } from "vitest";
import { kubeTarget, startKubeTarget } from "./kube-target.ts";

describe("KUBE_TARGET", () => {
  it.each([
    ["", "real"],
    ["real", "real"],
    ["embedded", "embedded"],
  ])("%j selects %s", (value, target) => {
    expect(kubeTarget(value)).toBe(target);
  });

  it("rejects other values", () => {
    expect(() => kubeTarget("minikube")).toThrow(/KUBE_TARGET.*minikube/);
  });

  it("embedded authenticates by token", async () => {
    await using cluster = await startKubeTarget({}, "embedded");
    const ca = readFileSync(cluster.caFile, "utf8");
    const path = `${cluster.url}/api/v1/namespaces/default`;
    const known = await probe(path, { ca, headers: { authorization: `Bearer ${cluster.token}` } });
    expect(known.status).toBe(200);
    expect((await probe(path, { ca })).status, "anonymous requests are forbidden").toBe(403);
    expect((await probe(path, { ca, headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("embedded publishes the CA certificate in every namespace, as the controller manager does", async () => {
    await using cluster = await startKubeTarget({ controllerManager: true }, "embedded");
    const ca = readFileSync(cluster.caFile, "utf8");
    const path = `${cluster.url}/api/v1/namespaces/default/configmaps/kube-root-ca.crt`;
    const { body } = await eventually(
      async () => {
        const answer = await probe(path, { ca, headers: { authorization: `Bearer ${cluster.token}` } });
        return answer.status === 200 && answer;
      },
      { what: "kube-root-ca.crt" },
    );
    expect((JSON.parse(body) as { data: unknown }).data).toEqual({ "ca.crt": ca });
  });
});
