import { readFileSync } from "node:fs";
import { eventually, probe } from "@oaas/real-components";
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

  it("embedded is a server in this process that answers by its token", async () => {
    await using cluster = await startKubeTarget({}, "embedded");
    const ca = readFileSync(cluster.caFile, "utf8");
    const path = `${cluster.url}/api/v1/namespaces/default`;
    const known = await probe(path, { ca, headers: { authorization: `Bearer ${cluster.token}` } });
    expect(known.status).toBe(200);
    expect((await probe(path, { ca })).status, "nobody in particular may read nothing").toBe(403);
    expect((await probe(path, { ca, headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });

  it("embedded gives the pods of every namespace what to trust, as the real controller manager does", async () => {
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
