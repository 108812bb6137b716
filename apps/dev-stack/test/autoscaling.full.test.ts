import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { componentFile, describeWith, eventually, runCommand } from "@oaas/testkit";
import { afterAll, expect, test } from "vitest";
import { startStack, stopStack } from "./stack-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-real-autoscaling-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeWith(["kubernetes", "etcd", "kwok", "kubectl", "prometheus"], "autoscalers of a real stack", () => {
  test("scale a class on the simulated load", async () => {
    const stack = await startStack(path.join(folder, "data"), ["--real", "--clusters=1"]);
    try {
      const [cluster] = stack.clusters;
      const kubectl = async (...args: readonly string[]): Promise<string> => {
        const all = ["--kubeconfig", cluster?.kubeconfig ?? "", ...args];
        const { exitCode, stdout, stderr } = await runCommand(componentFile("kubectl"), all, {
          cwd: folder,
          timeoutMs: 60_000,
        });
        expect(exitCode, stderr).toBe(0);
        return stdout;
      };
      await eventually(async () => expect(await kubectl("get", "hpa", "-o", "name")).toContain("shop-order-edge-"), {
        timeoutMs: 120_000,
        what: "the autoscaler of Order.place",
      });
      await kubectl("annotate", "classruntime", "--all", "simulation.oaas.io/requests-per-second=80");
      const template = "{.items[0].status.desiredReplicas} {.items[0].spec.maxReplicas}";
      await eventually(async () => expect(await kubectl("get", "hpa", "-o", `jsonpath=${template}`)).toBe("5 5"), {
        timeoutMs: 180_000,
        what: "the largest number of replicas",
      });
    } finally {
      await stopStack(stack, "SIGTERM");
    }
  }, 500_000);
});
