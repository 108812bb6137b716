import { writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { eventually, startHttpProxy, type HttpFate, type KubernetesUnderTest } from "@oaas/testkit";
import { runManager, type RunningManager } from "./running-manager.ts";

/** When the manager dies: before the server hears of the call, or after it has done it and before the manager learns so. */
export type Moment = "before" | "after";

/** The manager as a process behind a proxy that counts its calls and can kill it at any of them. */
export interface MortalManager {
  /** How many calls it has made about a namespace. Watches are none: they have no effect. */
  callsAbout(namespace: string): number;
  /** Kills it at the n-th call about this namespace from now on. */
  killAt(namespace: string, nth: number, moment: Moment): void;
  readonly isDead: boolean;
  /** Starts it again, if it is dead; no call kills it any more. */
  revive(): Promise<void>;
  /** Kills it and starts it again; what it writes from then on is in `written`. */
  restart(): Promise<void>;
  /** The writes since the last start, about any namespace. */
  readonly written: readonly string[];
  /** Whether it has looked at so many classes since its start and has nothing in hand or in line. */
  isIdle(classes?: number): Promise<boolean>;
  close(): Promise<void>;
}

/** Starts it for all namespaces. */
export async function startMortalManager(
  cluster: KubernetesUnderTest,
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<MortalManager> {
  const proxy = await startHttpProxy({ url: cluster.url, caFile: cluster.caFile });
  const kubeconfig = path.join(folder, "kubeconfig-proxy");
  await writeFile(kubeconfig, kubeconfigText(proxy.url, cluster.token));
  const calls = new Map<string, number>();
  let written: string[] = [];
  let doom: { readonly namespace: string; readonly nth: number; readonly moment: Moment } | undefined;
  let isDead = false;
  let manager: RunningManager;

  const kill = (): void => {
    isDead = true;
    manager.process.signal("SIGKILL");
  };
  proxy.set((request: IncomingMessage): HttpFate => {
    // What a dead manager had sent and nobody read yet.
    if (isDead) return { do: "hang" };
    const { pathname, searchParams } = new URL(request.url ?? "", proxy.url);
    if (searchParams.has("watch")) return { do: "pass" };
    if (request.method !== "GET") written.push(`${request.method} ${pathname}`);
    const namespace = /\/namespaces\/([^/]+)/.exec(pathname)?.[1] ?? "";
    const nth = (calls.get(namespace) ?? 0) + 1;
    calls.set(namespace, nth);
    if (namespace !== doom?.namespace || nth !== doom.nth) return { do: "pass" };
    const met = doom;
    // The answer may come when the test has gone on already.
    if (met.moment === "after") return { do: "lose-answer", onAnswer: () => doom === met && kill() };
    kill();
    return { do: "hang" };
  });
  const start = async (): Promise<void> => {
    written = [];
    isDead = false;
    manager = await runManager(kubeconfig, folder, {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_FEATURES_ODGM: "true",
      // A killed leader's lease has to lapse first; what is tested here would only be slower.
      OPRC_CRM_FEATURES_LEADER_ELECTION: "false",
      ...env,
    });
    await eventually(async () => (await fetch(`http://127.0.0.1:${manager.port}/readyz`)).status === 200, {
      what: "the manager to be ready",
    });
  };
  const end = async (): Promise<void> => {
    isDead = true;
    manager.channel.close();
    await manager.process.stop(0);
  };
  await start();
  return {
    callsAbout: (namespace) => calls.get(namespace) ?? 0,
    killAt: (namespace, nth, moment) => {
      doom = { namespace, nth: (calls.get(namespace) ?? 0) + nth, moment };
    },
    get isDead() {
      return isDead;
    },
    revive: async () => {
      doom = undefined;
      if (!isDead) return;
      await end();
      await start();
    },
    restart: async () => {
      doom = undefined;
      await end();
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
      const inHand = sumOf("kube_controller_active_workers") + sumOf("kube_controller_queue_depth");
      return inHand === 0 && sumOf("kube_controller_reconciles_total") >= classes;
    },
    close: async () => {
      await end();
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
