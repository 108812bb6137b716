import type { Ambient, Fault } from "@oaas/foundation";

export interface EtcdStoreOptions {
  readonly ambient: Ambient;
  /** `http://host:port`, `https://host:port` or `host:port`; the next one is used when one does not respond. */
  readonly endpoints: readonly string[];
  /** Prefix of every key, so that several stores can share one etcd. */
  readonly keyPrefix?: string;
  readonly auth?: { readonly username: string; readonly password: string };
  readonly tls?: EtcdTlsOptions;
  /** Time limit of a call, including retries; calls fail sooner while etcd is known to be unavailable. */
  readonly timeoutMs?: number;
  /** Time limit of one endpoint before the next is used. */
  readonly attemptTimeoutMs?: number;
  /** Called on background failures (endpoint changed, watch resumed), for the log. */
  readonly onIncident?: (incident: EtcdIncident) => void;
}

/** Files are reloaded when they change, for new connections. */
export interface EtcdTlsOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Accept any server certificate. For development only. */
  readonly insecureSkipVerify?: boolean;
}

export interface EtcdIncident {
  readonly what: "endpoint left" | "watch resumed" | "certificates not reloaded";
  readonly endpoint?: string;
  readonly fault: Fault;
}
