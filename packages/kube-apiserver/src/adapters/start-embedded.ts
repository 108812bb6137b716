import { realClock, realIds, realTimers } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { stringify } from "yaml";
import type { LoopProblem, SimulationOptions, WorkloadSimulation } from "../controllers/index.ts";
import { ADMINISTRATOR } from "../access/access-control.ts";
import { embeddedServer } from "../embedded.ts";
import type { ApiServer } from "../server.ts";
import { KeyValueJournal } from "../store/key-value-journal.ts";
import { listenHttp, type HttpOptions } from "./http-server.ts";

export interface StartOptions extends HttpOptions {
  /** The cluster name in contexts of a kubeconfig. */
  readonly name?: string;
  /**
   * The token that clients must send. By default none: any process that reaches loopback may do everything, but no web
   * page. Requires `tls` for `kubectl`, which sends no token without TLS.
   */
  readonly token?: string;
  /** Keeps objects beyond the process; not closed with the server. */
  readonly store?: KeyValueStore;
  readonly collectsGarbage?: boolean;
  readonly simulation?: SimulationOptions;
  readonly onProblem?: (problem: LoopProblem) => void;
}

/** A cluster in this process that listens on loopback. */
export interface EmbeddedCluster {
  readonly server: ApiServer;
  readonly url: string;
  /** The kubeconfig for `kubectl`. */
  readonly kubeconfig: string;
  readonly simulation: WorkloadSimulation | undefined;
  close(): Promise<void>;
}

/** Starts a cluster in this process on a free loopback port. */
export async function startEmbedded(options: StartOptions = {}): Promise<EmbeddedCluster> {
  const { name = "embedded", token, store, simulation, tls } = options;
  const { server, simulation: getSimulation } = embeddedServer({
    clock: realClock,
    timers: realTimers,
    ids: realIds,
    ...(token === undefined ? {} : { users: new Map([[token, ADMINISTRATOR]]) }),
    ...(store === undefined ? {} : { journal: new KeyValueJournal({ store, timers: realTimers }) }),
    ...(options.collectsGarbage === undefined ? {} : { collectsGarbage: options.collectsGarbage }),
    ...(simulation === undefined ? {} : { simulation }),
    ...(tls?.authority === undefined ? {} : { rootCertificates: tls.authority }),
    ...(options.onProblem === undefined ? {} : { onProblem: options.onProblem }),
  });
  await server.start();
  const listener = await listenHttp(server, { ...options, isOpen: token === undefined });
  return {
    server,
    url: listener.url,
    kubeconfig: kubeconfigText(name, listener.url, { token, authority: tls?.authority }),
    simulation: getSimulation(),
    close: async () => {
      await server.close();
      await listener.close();
    },
  };
}

interface Credentials {
  readonly token: string | undefined;
  /** The CA certificates in PEM. */
  readonly authority: string | undefined;
}

function kubeconfigText(name: string, server: string, { token, authority }: Credentials): string {
  const trust =
    authority === undefined ? {} : { "certificate-authority-data": Buffer.from(authority).toString("base64") };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...trust } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  });
}
