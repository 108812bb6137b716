import type { StackFault } from "../lab/fault.ts";
import type { StackState } from "../components.ts";

export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** The allowed methods in a 405 response. */
  readonly allow?: string;
}

/** A read-only path, or a control path that needs the stack's secret. */
export type Route =
  | { readonly path: string; readonly does: "read"; read(): Promise<Reply> | Reply }
  | { readonly path: string; readonly does: "act"; act(body: unknown): Promise<Reply> };

/** Resource usage of the process. */
export interface ProcessUsage {
  readonly pid: number;
  readonly rss_bytes: number;
  readonly cpu_ms: number;
  readonly up_ms: number;
}

/** The data sources of the routes. */
export interface RouteSources {
  readonly version: string;
  readonly page: () => Promise<string>;
  readonly metrics: () => Promise<string>;
  /** The current revision of the store; rejects if the store fails. */
  readonly storeRevision: () => Promise<number>;
  readonly readState: () => Promise<StackState>;
  readonly process: () => ProcessUsage;
  readonly now: () => string;
  readonly control: Control;
}

/** The control operations of a running stack. */
export interface Control {
  readonly broken: () => readonly StackFault[];
  break(fault: unknown): Promise<void>;
  /** Without a fault: removes all faults. */
  restore(fault: unknown): Promise<void>;
  /** Starts a graceful shutdown and returns at once. */
  stop(): void;
}

/** The routes of the local stack. `/healthz` covers this process, `/health` and `/readyz` cover all components. */
export function createRoutes(sources: RouteSources): readonly Route[] {
  const { control } = sources;
  const fullHealth = async (): Promise<Reply> => healthReply(sources, await sources.readState());
  const faultsReply = (): Reply => json(200, { broken: control.broken() });
  const read = (path: string, reply: () => Promise<Reply> | Reply): Route => ({ path, does: "read", read: reply });
  const act = (path: string, reply: (body: unknown) => Promise<Reply>): Route => ({ path, does: "act", act: reply });
  return [
    read("/", async () => ({ status: 200, contentType: "text/html; charset=utf-8", body: await sources.page() })),
    read("/health", fullHealth),
    read("/healthz", () => healthReply(sources)),
    read("/readyz", fullHealth),
    read("/metrics", async () => ({
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: await sources.metrics(),
    })),
    act("/control/break", async (body) => {
      await control.break(body);
      return faultsReply();
    }),
    act("/control/restore", async (body) => {
      await control.restore(body);
      return faultsReply();
    }),
    act("/control/stop", async () => {
      control.stop();
      return json(202, { status: "stopping" });
    }),
  ];
}

async function healthReply(sources: RouteSources, state?: StackState): Promise<Reply> {
  const states = state === undefined ? [] : [state.packageManager, ...state.clusters].map((part) => part.state);
  const storage = await sources.storeRevision().then(
    (revision) => ({ status: "ok", revision }),
    (error: Error) => ({ status: "error", message: error.message }),
  );
  const isHealthy = storage.status === "ok" && !states.includes("failed");
  const isReady = isHealthy && !states.includes("starting");
  return json(isReady ? 200 : 503, {
    status: isReady ? "healthy" : isHealthy ? "starting" : "unhealthy",
    service: "oaas-dev-stack",
    version: sources.version,
    timestamp: sources.now(),
    process: sources.process(),
    storage,
    broken: sources.control.broken(),
    ...(state && { package_manager: state.packageManager, clusters: state.clusters }),
  });
}

function json(status: number, value: unknown): Reply {
  return { status, contentType: "application/json", body: `${JSON.stringify(value, undefined, 2)}\n` };
}
