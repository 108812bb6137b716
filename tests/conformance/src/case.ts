import type { JsonValue } from "@oaas/kube-core";

/**
 * One thing a Kubernetes API server does, told as requests and what is to be seen. A case runs in a namespace of its own, on the real server and
 * on the embedded one; what both answer is made comparable (times, ids, versions) and must be the same, and what `want` says must be true of the real one.
 *
 * In every text of a step `{ns}` is the case's namespace (also good for names of cluster-scoped things), and `{name}` what an earlier step
 * kept under that name with `save`.
 */
export interface Case {
  readonly name: string;
  /** What makes the scene: each must succeed, and nothing of it is compared. */
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
   * What is compared of the answer: paths such as `metadata.labels` or `items[*].metadata.name`. Without it, everything. An empty list: the code
   * alone.
   */
  readonly show?: readonly string[];
  /** Whether lists that are shown have no order worth comparing. */
  readonly unordered?: boolean;
}

/** One request. Without `want` it must succeed. */
export interface RequestStep extends Compared {
  /**
   * Method and path: `GET configmaps/a`, `PATCH v2:things/a/status?force=true`, `GET /version`. A path without a leading slash is in the case's
   * namespace when its kind has one; a kind that is not built in is of the group `{ns}.test`, version v1 unless said before a colon.
   */
  readonly do: string;
  /** A text goes as it is, anything else as JSON. */
  readonly body?: JsonValue | Buffer;
  /** By default application/json, and for PATCH application/merge-patch+json. */
  readonly type?: string;
  readonly accept?: string;
  /** One of the users of the suite; by default the administrator. Empty: nobody, without a token. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Paths of the answer to keep for later steps. */
  readonly save?: Readonly<Record<string, string>>;
  /** The status code, and what the body must contain. */
  readonly want?: number | readonly [number, JsonValue];
}

/** Opens a watch and goes on; its events are read by an `events` step. */
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
  /** How many; without it: all, until the server ends the watch. */
  readonly count?: number;
  readonly save?: Readonly<Record<string, string>>;
  /** What the events must contain, one for one. */
  readonly want?: readonly JsonValue[];
}

/** Asks again and again until the answer has what is wanted. Only what `show` names is compared. */
export interface UntilStep extends Compared {
  readonly until: string;
  /** Asked with POST and this body, as reviews are. */
  readonly post?: JsonValue;
  /** What the body must contain; elements of a list may have any others between. */
  readonly has?: JsonValue;
  /** By default 200. */
  readonly code?: number;
  readonly save?: Readonly<Record<string, string>>;
}

/** Runs kubectl in the case's namespace. */
export interface KubectlStep extends Compared {
  /** Arguments, split at blanks; those with blanks inside as a list. */
  readonly kubectl: string | readonly string[];
  /** A text as it is, an object as YAML would be: as JSON. */
  readonly stdin?: JsonValue;
  readonly env?: Readonly<Record<string, string>>;
  readonly as?: string;
  /** Goes on while it runs; its lines are read by a `lines` step. */
  readonly background?: string;
  /** The exit code, and what standard output or error must contain. */
  readonly want?: number | readonly [number, string];
}

/** Reads the next lines of a kubectl in the background. */
export interface KubectlLinesStep extends Compared {
  readonly lines: string;
  readonly count: number;
}

/** What a step showed, made comparable. */
export type Shown = JsonValue;
