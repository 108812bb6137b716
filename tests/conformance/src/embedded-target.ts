import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { ApiServer, builtInKinds } from "@oaas/kube-apiserver";
import { listenHttp } from "@oaas/kube-apiserver/node";
import { componentFile, runCommand } from "@oaas/testkit";
import type { Subject } from "./case.ts";
import { socketWire } from "./http.ts";
import { USERS, type Target } from "./target.ts";

const ADMIN = { name: "admin", token: "admin-token", groups: ["system:masters"] };

/** The embedded server on a socket of loopback, as a person would reach it. */
export async function startEmbeddedTarget(needs: Subject["needs"]): Promise<Target> {
  void needs;
  const server = new ApiServer({ ...realAmbient, kinds: builtInKinds() });
  await server.start();
  const listener = await listenHttp(server);
  const folder = mkdtempSync(join(tmpdir(), "oaas-conformance-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, JSON.stringify(configOf(listener.url)), { mode: 0o600 });
  const wire = socketWire(listener.url, undefined);
  return {
    name: "embedded",
    wire,
    tokens: Object.fromEntries([ADMIN, ...USERS].map(({ name, token }) => [name, token])),
    kubeconfig,
    kubectl: (args, options) =>
      runCommand(componentFile("kubectl"), args, {
        ...options,
        cwd: folder,
        env: { KUBECONFIG: kubeconfig, HOME: folder, ...options.env },
      }),
    [Symbol.asyncDispose]: async () => {
      wire.close();
      await listener.close();
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configOf(url: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: url } }],
    users: [ADMIN, ...USERS].map(({ name, token }) => ({ name, user: { token } })),
    contexts: [{ name: "test", context: { cluster: "test", user: ADMIN.name } }],
    "current-context": "test",
  };
}
