import type { QueryClient } from "@tanstack/react-query";
import type { StreamEvent } from "./contract.ts";

/** Whether the events arrive; `waiting` before the first connection. */
export type Connection = "waiting" | "open" | "lost";

/** Changes within this time lead to one refresh. */
const BATCH_MS = 1000;
/** An interruption of this length is not worth a banner: EventSource reconnects by itself. */
const GRACE_MS = 2500;
const RETRY_MS = 3000;
const KEPT_EVENTS = 300;

type Listener = () => void;

/** An event without its object, which may be large. */
export interface FeedEvent extends Pick<StreamEvent, "id" | "topic" | "type" | "key" | "at"> {
  /** Condition or state of the object after the event. */
  readonly state: string | undefined;
  readonly message: string | undefined;
}

/**
 * The one event stream of the console. Each event marks the queries of its object as outdated; queries that a page shows
 * are fetched again, at most once per second. After an interruption everything on the page is fetched again.
 *
 * A page that is not visible has no stream: a browser opens six connections to a host, so that streams of hidden pages and
 * of pages kept for the back button would leave none for the seventh.
 */
export class EventFeed {
  #queries: QueryClient;
  #source: EventSource | undefined;
  #connection: Connection = "waiting";
  #lostSince: number | undefined;
  #events: readonly FeedEvent[] = [];
  #dirty = new Set<string>();
  #batch: ReturnType<typeof setTimeout> | undefined;
  #grace: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #listeners = new Set<Listener>();
  /** Whether events were missed since the stream was closed, so that everything shown may be outdated. */
  #paused = false;

  constructor(queries: QueryClient) {
    this.#queries = queries;
  }

  readonly subscribe = (listener: Listener): Listener => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  readonly connection = (): Connection => this.#connection;
  /** The newest events, newest first; bounded. */
  readonly events = (): readonly FeedEvent[] => this.#events;
  readonly lostSince = (): number | undefined => this.#lostSince;

  /** Follows the events while the page is visible, until `close`. */
  start(): void {
    document.addEventListener("visibilitychange", this.#showOrHide);
    addEventListener("pagehide", this.#pause);
    addEventListener("pageshow", this.#showOrHide);
    this.#showOrHide();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.#showOrHide);
    removeEventListener("pagehide", this.#pause);
    removeEventListener("pageshow", this.#showOrHide);
    this.#disconnect();
    this.#paused = false;
  }

  readonly #showOrHide = (): void => (document.visibilityState === "hidden" ? this.#pause() : this.#connect());

  readonly #pause = (): void => {
    if (this.#connection !== "waiting") this.#paused = true;
    this.#disconnect();
  };

  #connect(): void {
    if (this.#source !== undefined) return;
    const source = new EventSource("/api/v1/events");
    this.#source = source;
    source.addEventListener("open", () => this.#opened());
    source.addEventListener("error", () => this.#failed());
    for (const topic of ["deployment", "operation", "cluster", "class-runtime", "package"])
      source.addEventListener(topic, (message) => this.#received(message as MessageEvent<string>));
  }

  #disconnect(): void {
    this.#source?.close();
    this.#source = undefined;
    this.#lostSince = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#grace);
    clearTimeout(this.#batch);
    this.#batch = undefined;
    this.#grace = undefined;
    this.#set("waiting");
  }

  /** Connects now instead of after the next wait. */
  readonly reconnect = (): void => {
    this.#source?.close();
    this.#source = undefined;
    this.#connect();
  };

  #opened(): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
    const recovered = this.#lostSince !== undefined || this.#paused;
    this.#lostSince = undefined;
    this.#paused = false;
    this.#set("open");
    if (recovered) void this.#queries.invalidateQueries();
  }

  #failed(): void {
    this.#lostSince ??= Date.now();
    this.#grace ??= setTimeout(() => this.#set("lost"), GRACE_MS);
    // After an error response, such as that to an ended session, the browser does not connect again.
    if (this.#source?.readyState !== EventSource.CLOSED) return;
    this.#source = undefined;
    void this.#queries.invalidateQueries({ queryKey: ["session"] });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), RETRY_MS);
  }

  #received(message: MessageEvent<string>): void {
    const event = JSON.parse(message.data) as StreamEvent;
    this.#events = [summarized(event), ...this.#events].slice(0, KEPT_EVENTS);
    for (const key of outdatedBy(event)) this.#dirty.add(key);
    this.#batch ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    this.#batch = undefined;
    const roots = this.#dirty;
    this.#dirty = new Set();
    void this.#queries.invalidateQueries({ predicate: ({ queryKey }) => isOutdated(queryKey, roots) });
    this.#notify();
  }

  #set(connection: Connection): void {
    this.#connection = connection;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Keys of queries that an event makes outdated: a list, or one object as `list/key`. */
export function outdatedBy({ topic, key, type }: Pick<StreamEvent, "topic" | "key" | "type">): readonly string[] {
  if (type === "resync")
    return ["deployments", "packages", "clusters", "class-runtimes", "overview", "operations", "topology"];
  switch (topic) {
    case "deployment":
      return ["deployments", `deployment/${key}`, "overview", "topology"];
    case "operation":
      return ["operations", "deployment/*", "overview"];
    case "cluster":
      return ["clusters", `cluster/${key}`, "overview", "topology", "lab"];
    case "class-runtime":
      return ["class-runtimes", `class-runtime/${key}`, "deployment/*", "overview"];
    case "package":
      return ["packages", `package/${key}`, "overview", "topology"];
  }
}

/** Query keys start with the name of a list, or with the kind and key of one object. */
export function isOutdated(queryKey: readonly unknown[], roots: ReadonlySet<string>): boolean {
  const [root, key] = queryKey;
  if (typeof root !== "string") return false;
  return roots.has(root) || roots.has(`${root}/*`) || (typeof key === "string" && roots.has(`${root}/${key}`));
}

/** Reads the state of the object of any topic. */
export function summarized({ id, topic, type, key, at, object }: StreamEvent): FeedEvent {
  const fields = recordOf(object);
  const status = recordOf(fields["status"]);
  const text = (...values: readonly unknown[]): string | undefined =>
    values.find((value): value is string => typeof value === "string" && value !== "");
  return {
    id,
    topic,
    type,
    key,
    at,
    state: text(
      fields["health"],
      status["health"],
      recordOf(fields["health"])["status"],
      fields["state"],
      fields["condition"],
    ),
    message: text(fields["message"], status["message"], status["last_error"], fields["text"]),
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
