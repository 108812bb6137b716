import type { StackFault } from "../lab/fault.ts";
import type { StackState } from "../parts.ts";

/** What a route answers. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** The methods that would have been right, where this one was not. */
  readonly allow?: string;
}

/** A path that can be read, or, by whoever knows the stack's secret, made to do something. */
export type Route =
  | { readonly path: string; readonly does: "read"; read(): Promise<Reply> | Reply }
  | { readonly path: string; readonly does: "act"; act(body: unknown): Promise<Reply> };

/** What the process takes. */
export interface ProcessFigures {
  readonly pid: number;
  readonly rss_bytes: number;
  readonly cpu_ms: number;
  readonly up_ms: number;
}

/** Everything the routes show. */
export interface RouteSources {
  readonly version: string;
  readonly page: () => Promise<string>;
  readonly metrics: () => Promise<string>;
  /** The present revision of the store; rejects when it is not well. */
  readonly storeRevision: () => Promise<number>;
  readonly look: () => Promise<StackState>;
  readonly process: () => ProcessFigures;
  readonly now: () => string;
  readonly control: Control;
}

/** What can be done to the running stack. */
export interface Control {
  readonly broken: () => readonly StackFault[];
  break(fault: unknown): Promise<void>;
  /** Without a fault: everything. */
  mend(fault: unknown): Promise<void>;
  /** Begins to stop in order; answers before it is done. */
  stop(): void;
}

/** The routes of the local stack. `/healthz` is about this process, the others are about everything it runs. */
export function routesOf(sources: RouteSources): readonly Route[] {
  const { control } = sources;
  const wholeHealth = async (): Promise<Reply> => healthReply(sources, await sources.look());
  const broken = (): Reply => json(200, { broken: control.broken() });
  const read = (path: string, reply: () => Promise<Reply> | Reply): Route => ({ path, does: "read", read: reply });
  const act = (path: string, reply: (body: unknown) => Promise<Reply>): Route => ({ path, does: "act", act: reply });
  return [
    read("/", async () => ({ status: 200, contentType: "text/html; charset=utf-8", body: await sources.page() })),
    read("/health", wholeHealth),
    read("/healthz", () => healthReply(sources)),
    read("/readyz", wholeHealth),
    read("/metrics", async () => ({
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: await sources.metrics(),
    })),
    act("/control/break", async (body) => {
      await control.break(body);
      return broken();
    }),
    act("/control/restore", async (body) => {
      await control.mend(body);
      return broken();
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
  const isWell = storage.status === "ok" && !states.includes("failed");
  const isReady = isWell && !states.includes("starting");
  return json(isReady ? 200 : 503, {
    status: isReady ? "healthy" : isWell ? "starting" : "unhealthy",
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
