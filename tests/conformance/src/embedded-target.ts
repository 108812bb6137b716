import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { embeddedServer } from "@oaas/kube-apiserver";
import { listenHttp } from "@oaas/kube-apiserver/node";
import { componentFile, kubeconfigText, makeAuthority, runCommand } from "@oaas/testkit";
import type { Subject } from "./case.ts";
import { socketWire } from "./http.ts";
import { USERS, type Target } from "./target.ts";

const ADMIN = { name: "admin", token: "admin-token", groups: ["system:masters"] };

/** The embedded server on a loopback socket. */
export async function startEmbeddedTarget(needs: Subject["needs"]): Promise<Target> {
  const hasControllers = needs === "controllers";
  const authority = makeAuthority("conformance-ca", 2);
  const { server } = embeddedServer({
    ...realAmbient,
    users: new Map([ADMIN, ...USERS].map(({ name, token, groups }) => [token, { name, uid: name, groups }])),
    collectsGarbage: hasControllers,
    rootCertificates: authority.certificate,
    // Like KWOK: two nodes, and no kubelet events.
    ...(hasControllers ? { simulation: { nodes: 2, containerEvents: false } } : {}),
  });
  await server.start();
  const certificate = authority.issue({ commonName: "embedded", hosts: ["127.0.0.1"] });
  const listener = await listenHttp(server, {
    tls: { certificate: certificate.certificate, key: certificate.key, authority: authority.certificate },
  });
  const folder = mkdtempSync(join(tmpdir(), "oaas-conformance-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText("test", listener.url, authority.certificate, [ADMIN, ...USERS]), {
    mode: 0o600,
  });
  const wire = socketWire(listener.url, authority.certificate);
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
