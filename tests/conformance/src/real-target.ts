import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { componentFile, runCommand, startKubernetes } from "@oaas/testkit";
import type { Subject } from "./case.ts";
import { socketWire } from "./http.ts";
import { USERS, type Target } from "./target.ts";

/** The real kube-apiserver with etcd, and for workloads with controller manager, scheduler and KWOK. */
export async function startRealTarget(needs: Subject["needs"]): Promise<Target> {
  const cluster = await startKubernetes(
    needs === "controllers"
      ? { controllerManager: true, scheduler: true, kwokNodes: 2, users: USERS }
      : { users: USERS },
  );
  const wire = socketWire(cluster.url, readFileSync(cluster.caFile, "utf8"));
  const folder = dirname(cluster.kubeconfig);
  return {
    name: "real",
    wire,
    tokens: { admin: cluster.token, ...Object.fromEntries(USERS.map(({ name, token }) => [name, token])) },
    kubeconfig: cluster.kubeconfig,
    kubectl: (args, options) =>
      runCommand(componentFile("kubectl"), args, {
        ...options,
        cwd: folder,
        env: { KUBECONFIG: cluster.kubeconfig, HOME: folder, ...options.env },
      }),
    [Symbol.asyncDispose]: async () => {
      wire.close();
      await cluster.close();
    },
  };
}
