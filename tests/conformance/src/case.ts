import type { JsonValue } from "@oaas/kube-core";

/**
 * One behaviour of a Kubernetes API server: requests and expected responses. A case runs in a separate namespace, on
 * the real server and on the embedded one. Both responses are normalised (times, ids, versions) and must be equal, and
 * `want` must hold on the real server.
 *
 * In every string of a step `{ns}` is the case's namespace (also usable for names of cluster-scoped objects), and
 * `{name}` a value that an earlier step saved under that name with `save`.
 */
export interface Case {
  readonly name: string;
  /** Setup steps: each must succeed, and none is compared. */
  readonly given?: readonly Step[];
  readonly steps: readonly Step[];
}

/** Cases of one subject, in one file. */
export interface Subject {
  readonly subject: string;
  /** `api`: a bare API server. `controllers`: with garbage collection, namespaces and workloads on simulated nodes. */
  readonly needs: "api" | "controllers";
  readonly cases: readonly Case[];
}

export type Step = RequestStep | WatchStep | EventsStep | UntilStep | KubectlStep | KubectlLinesStep;

interface Compared {
  /**
   * The compared part of the response: paths such as `metadata.labels` or `items[*].metadata.name`. Default:
   * everything. Empty list: the status code only.
   */
  readonly show?: readonly string[];
  /** Whether shown lists are compared without order. */
  readonly unordered?: boolean;
}

/** One request. Without `want` it must succeed. */
export interface RequestStep extends Compared {
  /**
   * Method and path: `GET configmaps/a`, `PATCH v2:things/a/status?force=true`, `GET /version`. A path without a
   * leading slash is in the case's namespace when its kind is namespaced. A kind that is not built in is of the group
   * `{ns}.test`, version v1 unless given before a colon.
   */
  readonly do: string;
  /** A string is sent as is, anything else as JSON. */
  readonly body?: JsonValue | Buffer;
  /** Default application/json, and for PATCH application/merge-patch+json. */
  readonly type?: string;
  readonly accept?: string;
  /** A user of the suite; default the administrator. Empty: anonymous, without a token. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Paths of the response to save for later steps. */
  readonly save?: Readonly<Record<string, string>>;
  /** The status code, and values that the body must contain. */
  readonly want?: number | readonly [number, JsonValue];
}

/** Opens a watch in the background; an `events` step reads its events. */
export interface WatchStep extends Compared {
  readonly watch: string;
  readonly do: string;
  readonly as?: string;
  readonly accept?: string;
  readonly want?: number | readonly [number, JsonValue];
}

/** Reads the next events of an open watch. */
export interface EventsStep extends Compared {
  readonly events: string;
  /** The number of events; default: all, until the server ends the watch. */
  readonly count?: number;
  readonly save?: Readonly<Record<string, string>>;
  /** Values that the events must contain, one by one. */
  readonly want?: readonly JsonValue[];
}

/** Polls until the response contains the expected values. Only paths in `show` are compared. */
export interface UntilStep extends Compared {
  readonly until: string;
  /** Sends POST with this body, for access reviews. */
  readonly post?: JsonValue;
  /** Values that the body must contain; a list may have other elements in between. */
  readonly has?: JsonValue;
  /** Default 200. */
  readonly code?: number;
  readonly save?: Readonly<Record<string, string>>;
}

/** Runs kubectl in the case's namespace. */
export interface KubectlStep extends Compared {
  /** Arguments, split at spaces; a list for arguments with spaces. */
  readonly kubectl: string | readonly string[];
  /** Standard input: a string as is, an object as JSON. */
  readonly stdin?: JsonValue;
  readonly env?: Readonly<Record<string, string>>;
  readonly as?: string;
  /** Runs in the background; a `lines` step reads its output. */
  readonly background?: string;
  /** The exit code, and text that standard output or error must contain. */
  readonly want?: number | readonly [number, string];
}

/** Reads the next lines of a kubectl in the background. */
export interface KubectlLinesStep extends Compared {
  readonly lines: string;
  readonly count: number;
}

/** The normalised output of a step. */
export type Shown = JsonValue;
