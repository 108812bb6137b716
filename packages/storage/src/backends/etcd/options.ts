import type { Ambient, Fault } from "@oaas/foundation";

export interface EtcdStoreOptions {
  readonly ambient: Ambient;
  /** `http://host:port`, `https://host:port` or `host:port`; tried in turn when one does not answer. */
  readonly endpoints: readonly string[];
  /** Put before every key, so that several stores can share one etcd. */
  readonly keyPrefix?: string;
  readonly auth?: { readonly username: string; readonly password: string };
  readonly tls?: EtcdTlsOptions;
  /** A call that has no answer after this long is given up, all tries included; sooner when etcd is known to be away. */
  readonly timeoutMs?: number;
  /** One endpoint that has not answered after this long is left for the next. */
  readonly attemptTimeoutMs?: number;
  /** Told what goes wrong in the background (an endpoint left, a watch resumed), for the log. */
  readonly onTrouble?: (trouble: EtcdTrouble) => void;
}

/** Files are read again when they change; connections made from then on use what they hold. */
export interface EtcdTlsOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Accept any server certificate. For trying out only. */
  readonly insecureSkipVerify?: boolean;
}

export interface EtcdTrouble {
  readonly what: "endpoint left" | "watch resumed" | "certificates not reloaded";
  readonly endpoint?: string;
  readonly fault: Fault;
}
