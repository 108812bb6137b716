import type { Ambient } from "@oaas/foundation";
import { listenOnePort, RpcServer, type BoundService } from "@oaas/rpc";
import type { StoreNode } from "../index.ts";
import { dataService } from "./data-service.ts";

export interface ServeOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly ambient: Ambient;
  /** Further services of the process. */
  readonly services?: readonly BoundService[];
}

export interface ServedNode {
  readonly address: string;
  close(): Promise<void>;
}

/** The limit of the real store. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

/** Serves the gRPC API of a node until its gRPC ends. There is nothing but gRPC on the port (T12). */
export async function serveStoreNode(node: StoreNode, options: ServeOptions): Promise<ServedNode> {
  const { host, port, ambient, services = [] } = options;
  const rpc = new RpcServer({
    services: [dataService(node), ...services],
    ambient,
    maxRequestBytes: MAX_REQUEST_BYTES,
  });
  const http = (_request: unknown, { socket }: { readonly socket: { destroy(): void } | null }): void =>
    socket?.destroy();
  const listener = await listenOnePort({ host, port, rpc, http, timers: ambient.timers });
  const close = (): Promise<void> => listener.close(0);
  void node.drained.then(close);
  return { address: `${host}:${listener.port}`, close };
}
