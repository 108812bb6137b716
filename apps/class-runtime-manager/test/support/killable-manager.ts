import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { eventually, startHttpProxy, type HttpFate, type KubernetesUnderTest } from "@oaas/testkit";
import { startManagerProcess, type ManagerProcess } from "./manager-process.ts";

/**
 * When the manager is killed: before the server receives the call, or after it handled the call but before the
 * response.
 */
export type KillMoment = "before" | "after";

/** The manager as a process behind a proxy that counts its calls and can kill it at any call. */
export interface KillableManager {
  /** Number of calls about a namespace, without watches. */
  countCalls(namespace: string): number;
  /** Kills the manager at the n-th further call about this namespace. */
  killAt(namespace: string, nth: number, moment: KillMoment): void;
  readonly isKilled: boolean;
  /** Clears the kill point and restarts the manager if it was killed. */
  restartIfKilled(): Promise<void>;
  /** Kills and restarts the manager. */
  restart(): Promise<void>;
  /** The writes since the last start, about any namespace. */
  readonly written: readonly string[];
  /** Whether the manager has reconciled this many classes since its start and is idle. */
  isIdle(classes?: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Starts the manager for all namespaces. */
export async function startKillableManager(
  cluster: KubernetesUnderTest,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<KillableManager> {
  const proxy = await startHttpProxy({ url: cluster.url, caFile: cluster.caFile });
  const kubeconfig = path.join(folder, "kubeconfig-proxy");
  await writeFile(kubeconfig, kubeconfigText(proxy.url, cluster.token));
  const calls = new Map<string, number>();
  let written: string[] = [];
  let killPoint: { readonly namespace: string; readonly nth: number; readonly moment: KillMoment } | undefined;
  let isDead = false;
  let manager: ManagerProcess;

  const kill = (): void => {
    isDead = true;
    manager.process.signal("SIGKILL");
  };
  proxy.set((request: IncomingMessage): HttpFate => {
    // A request that the killed manager had already sent.
    if (isDead) return { do: "hang" };
    const { pathname, searchParams } = new URL(request.url ?? "", proxy.url);
    if (searchParams.has("watch")) return { do: "pass" };
    if (request.method !== "GET") written.push(`${request.method} ${pathname}`);
    const namespace = /\/namespaces\/([^/]+)/.exec(pathname)?.[1] ?? "";
    const nth = (calls.get(namespace) ?? 0) + 1;
    calls.set(namespace, nth);
    if (namespace !== killPoint?.namespace || nth !== killPoint.nth) return { do: "pass" };
    const reached = killPoint;
    // The response may arrive after the test has moved on.
    if (reached.moment === "after") return { do: "lose-answer", onAnswer: () => killPoint === reached && kill() };
    kill();
    return { do: "hang" };
  });
  const start = async (): Promise<void> => {
    written = [];
    isDead = false;
    manager = await startManagerProcess(kubeconfig, folder, {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_FEATURES_ODGM: "true",
      // Without an election: waiting for the lease of a killed leader would only slow the tests down.
      OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
      ...env,
    });
    await eventually(async () => (await fetch(`http://127.0.0.1:${manager.port}/readyz`)).status === 200, {
      what: "the manager to be ready",
    });
  };
  const stop = async (): Promise<void> => {
    isDead = true;
    manager.channel.close();
    await manager.process.stop(0);
  };
  await start();
  return {
    countCalls: (namespace) => calls.get(namespace) ?? 0,
    killAt: (namespace, nth, moment) => {
      killPoint = { namespace, nth: (calls.get(namespace) ?? 0) + nth, moment };
    },
    get isKilled() {
      return isDead;
    },
    restartIfKilled: async () => {
      killPoint = undefined;
      if (!isDead) return;
      await stop();
      await start();
    },
    restart: async () => {
      killPoint = undefined;
      await stop();
      await start();
    },
    get written() {
      return written;
    },
    isIdle: async (classes = 0) => {
      const metrics = await (await fetch(`http://127.0.0.1:${manager.port}/metrics`)).text();
      const sumOf = (name: string): number =>
        [...metrics.matchAll(new RegExp(`^${name}\\{.*controller="class-runtime".*\\} (\\S+)$`, "gm"))]
          .map(([, value]) => Number(value))
          .reduce((sum, value) => sum + value, 0);
      const active = sumOf("kube_controller_active_workers") + sumOf("kube_controller_queue_depth");
      return active === 0 && sumOf("kube_controller_reconciles_total") >= classes;
    },
    close: async () => {
      await stop();
      await proxy.close();
    },
  };
}

function kubeconfigText(url: string, token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "proxy", cluster: { server: url } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "proxy", context: { cluster: "proxy", user: "admin" } }],
    "current-context": "proxy",
  });
}
