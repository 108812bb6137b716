import type { Ambient } from "@oaas/foundation";
import { fenced, KubeClient, type Transport } from "@oaas/kube-runtime";
import { NOOP_TRACER, type Logger, type Meter, type Tracer } from "@oaas/observability";
import { VERSION } from "./version.ts";

/** How the manager reaches the API server. */
export interface KubeTransports {
  readonly transport: Transport;
  /** Separate connections for the Lease, so that renewals are never delayed by other requests. Default: `transport`. */
  readonly leaseTransport?: Transport;
  /** Separate connections for the writes that callers of Deploy wait for. Default: `transport`. */
  readonly intentTransport?: Transport;
}

/** The clients of the manager, by purpose. */
export interface KubeClients {
  /** Reads and watches. */
  readonly client: KubeClient;
  readonly leaseClient?: KubeClient;
  /** Reads and writes classes for callers; its requests do not wait for those of the controllers. */
  readonly intentClient: KubeClient;
  /** Creates the client of the controllers: its writes are sent only while `mayWrite` returns true. */
  readonly fencedClient: (mayWrite: () => boolean) => KubeClient;
}

interface Deps extends KubeTransports {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly tracer?: Tracer | undefined;
}

/** Creates the clients. Starts nothing. */
export function createKubeClients(deps: Deps): KubeClients {
  const { ambient, logger, meter, tracer = NOOP_TRACER, transport, leaseTransport, intentTransport } = deps;
  const common = { ambient, meter, tracer, userAgent: `oprc-crm/${VERSION}` };
  const onWarning = (text: string): void => logger.warn("API server warning", { text });
  return {
    client: new KubeClient({ ...common, transport, onWarning }),
    ...(leaseTransport ? { leaseClient: new KubeClient({ ...common, transport: leaseTransport }) } : {}),
    intentClient: new KubeClient({ ...common, transport: intentTransport ?? transport }),
    fencedClient: (mayWrite) => new KubeClient({ ...common, transport: fenced(transport, mayWrite) }),
  };
}
