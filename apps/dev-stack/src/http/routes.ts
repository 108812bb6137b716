import type { StackState } from "../parts.ts";

/** What a route answers. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A path that can be read. Nothing here changes anything, so there is no other method. */
export interface Route {
  readonly path: string;
  read(): Promise<Reply> | Reply;
}

/** Everything the routes show. */
export interface RouteSources {
  readonly version: string;
  readonly page: () => Promise<string>;
  readonly metrics: () => Promise<string>;
  /** The present revision of the store; rejects when it is not well. */
  readonly storeRevision: () => Promise<number>;
  readonly look: () => Promise<StackState>;
  readonly now: () => string;
}

/** The routes of the local stack. `/healthz` is about this process, the others are about everything it runs. */
export function routesOf(sources: RouteSources): readonly Route[] {
  const health = async (state?: StackState): Promise<Reply> => {
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
      storage,
      ...(state && { package_manager: state.packageManager, clusters: state.clusters }),
    });
  };
  const wholeHealth = async (): Promise<Reply> => health(await sources.look());
  return [
    {
      path: "/",
      read: async () => ({ status: 200, contentType: "text/html; charset=utf-8", body: await sources.page() }),
    },
    { path: "/health", read: wholeHealth },
    { path: "/healthz", read: () => health() },
    { path: "/readyz", read: wholeHealth },
    {
      path: "/metrics",
      read: async () => ({
        status: 200,
        contentType: "text/plain; version=0.0.4; charset=utf-8",
        body: await sources.metrics(),
      }),
    },
  ];
}

function json(status: number, value: unknown): Reply {
  return { status, contentType: "application/json", body: `${JSON.stringify(value, undefined, 2)}\n` };
}
