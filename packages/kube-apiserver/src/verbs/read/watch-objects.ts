import type { JsonObject, Status } from "@oaas/kube-core";
import type { Kind } from "../../kinds/kind.ts";
import { createSelection, type ListOptions } from "../../request/query/list-options.ts";
import { expired, statusObject } from "../../request/response/status-errors.ts";
import type { Change } from "../../store/change-history.ts";
import type { StoredObject } from "../../store/stored-object.ts";
import { parseVersion } from "./list-objects.ts";
import { apiVersionOf, objectText, storeKindOf, type Target, type VerbContext } from "../verb-context.ts";

const BOOKMARK_INTERVAL_MS = 60_000;
const DEFAULT_TIMEOUT_SECONDS = 1800;
/** Chunk size: large enough that many small events cost one write, small enough to flow. */
const CHUNK_LENGTH = 128 * 1024;

/** How the object of an event is written: unchanged, or transformed. */
export type EventText = (stored: StoredObject) => string;

export interface WatchRequest {
  readonly target: Target;
  readonly options: ListOptions;
  /** Ends the watch: the client left, or the server closes. */
  readonly signal: AbortSignal;
  /** Whether the kind still exists. */
  isServed(): boolean;
  readonly text?: EventText;
}

/**
 * The changes of a kind as lines of JSON, while the client stays and its time is not over.
 *
 * Flow: the current state first (without a version), then changes from history, from its own position; a client that is
 * too slow gets an expired version error, and costs no memory before that.
 */
export async function* watchObjects(context: VerbContext, request: WatchRequest): AsyncGenerator<string> {
  const { target, options, signal } = request;
  const { store, timers } = context;
  const name = storeKindOf(target.kind);
  const wakeup = new Wakeup();
  const stream = new EventStream(context, request);
  let isOver = false;
  let isBookmarkDue = false;
  const end = timers.after((options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000, () => {
    isOver = true;
    wakeup.wake();
  });
  let bookmark = timers.after(BOOKMARK_INTERVAL_MS, onBookmark);
  function onBookmark(): void {
    isBookmarkDue = true;
    bookmark = timers.after(BOOKMARK_INTERVAL_MS, onBookmark);
    wakeup.wake();
  }
  if (!options.wantsBookmarks) bookmark.cancel();
  const unsubscribe = store.follow(name, wakeup.wake);
  signal.addEventListener("abort", wakeup.wake);
  try {
    yield* stream.initial();
    while (!stream.isEnded && !signal.aborted && request.isServed()) {
      for (let chunk = stream.next(); chunk !== ""; chunk = stream.next()) yield chunk;
      if ((isBookmarkDue || isOver) && options.wantsBookmarks && !stream.isEnded) yield stream.bookmark();
      isBookmarkDue = false;
      if (isOver || stream.isEnded) return;
      await wakeup.wait();
    }
  } finally {
    unsubscribe();
    end.cancel();
    bookmark.cancel();
    signal.removeEventListener("abort", wakeup.wake);
  }
}

/** The last line created for an object: usually the next watcher receives the same. */
const lines = new WeakMap<StoredObject, { readonly kind: Kind; readonly name: string; readonly text: string }>();

function formatLine(type: string, text: string): string {
  return `{"type":"${type}","object":${text}}\n`;
}

/** The position of a watcher. */
class EventStream {
  readonly #context: VerbContext;
  readonly #target: Target;
  readonly #options: ListOptions;
  readonly #text: EventText;
  /** Whether objects are sent unchanged, and so equal for all watchers. */
  readonly #isPlain: boolean;
  readonly #isSelected: ((object: JsonObject) => boolean) | undefined;
  readonly #prefix: string;
  #position = 0;
  /** Changes up to this revision were sent. */
  #revision = 0;
  isEnded = false;

  constructor(context: VerbContext, { target, options, text }: WatchRequest) {
    this.#context = context;
    this.#target = target;
    this.#options = options;
    this.#isPlain = text === undefined;
    this.#text = text ?? ((stored) => objectText(target, stored, false));
    this.#isSelected = createSelection(target, options);
    this.#prefix = target.namespace === "" ? "" : `${target.namespace}/`;
  }

  get #history() {
    return this.#context.store.history(storeKindOf(this.#target.kind));
  }

  /** Sends the current state if requested; sets the position for changes. */
  *initial(): Generator<string> {
    const { resourceVersion, sendsInitialEvents, wantsBookmarks } = this.#options;
    const requested = parseVersion(resourceVersion);
    const revision = requested.ok ? requested.value : 0;
    const sendsState = sendsInitialEvents ?? revision === 0;
    if (!sendsState && revision > 0) {
      const position = this.#history.placeAfter(revision);
      if (position === undefined) {
        yield this.#failure(expired(`too old resource version: ${revision} (${this.#history.compacted})`));
        return;
      }
      this.#position = position;
      this.#revision = revision;
      return;
    }
    const { store } = this.#context;
    const objects = store.objects(storeKindOf(this.#target.kind));
    this.#position = this.#history.end;
    this.#revision = store.revision;
    if (!sendsState) return;
    let chunk = "";
    for (const stored of objects.withPrefix(this.#prefix)) {
      if (this.#isSelected?.(stored.object) === false) continue;
      chunk += this.#line("ADDED", stored);
      if (chunk.length < CHUNK_LENGTH) continue;
      yield chunk;
      chunk = "";
    }
    if (sendsInitialEvents === true && wantsBookmarks) chunk += this.#bookmark(true);
    if (chunk !== "") yield chunk;
  }

  /** The next chunk of lines; empty when nothing happened. */
  next(): string {
    const history = this.#history;
    if (!history.reaches(this.#position)) {
      return this.#failure(expired(`too old resource version: ${this.#revision} (${history.compacted})`));
    }
    let chunk = "";
    for (let change = history.at(this.#position); change !== undefined; change = history.at(this.#position)) {
      if (chunk.length >= CHUNK_LENGTH) break;
      this.#position += 1;
      if (change.revision <= this.#revision) continue;
      this.#revision = change.revision;
      if (change.after.key.startsWith(this.#prefix)) chunk += this.#formatChange(change);
    }
    return chunk;
  }

  bookmark(): string {
    this.#revision = Math.max(this.#revision, this.#context.store.revision);
    return this.#bookmark(false);
  }

  #formatChange({ before, after, isDeletion, revision }: Change): string {
    const isNow = !isDeletion && (this.#isSelected?.(after.object) ?? true);
    const wasBefore = before !== undefined && (this.#isSelected?.(before.object) ?? true);
    if (isNow) return this.#line(wasBefore ? "MODIFIED" : "ADDED", after);
    if (!wasBefore) return "";
    // An object that leaves the selection is reported as deleted, in its last visible state, with the version of the
    // change.
    return this.#line("DELETED", isDeletion ? after : before.at(revision));
  }

  #line(type: string, stored: StoredObject): string {
    if (!this.#isPlain) return formatLine(type, this.#text(stored));
    const name = `${type} ${apiVersionOf(this.#target)}`;
    const cached = lines.get(stored);
    if (cached?.name === name && cached.kind === this.#target.kind) return cached.text;
    const text = formatLine(type, this.#text(stored));
    lines.set(stored, { kind: this.#target.kind, name, text });
    return text;
  }

  #bookmark(isInitialEnd: boolean): string {
    const annotations = isInitialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
    const object = {
      kind: this.#target.kind.kind,
      apiVersion: apiVersionOf(this.#target),
      metadata: { resourceVersion: String(this.#revision), ...annotations },
    };
    return `{"type":"BOOKMARK","object":${JSON.stringify(object)}}\n`;
  }

  #failure(status: Status): string {
    this.isEnded = true;
    return `{"type":"ERROR","object":${JSON.stringify(statusObject(status))}}\n`;
  }
}

/** Lets one reader wait until something happened, however often. */
export class Wakeup {
  #isDue = false;
  #resolve: (() => void) | undefined;

  readonly wake = (): void => {
    this.#isDue = true;
    this.#resolve?.();
    this.#resolve = undefined;
  };

  /** Resolves at once when woken since the last time. */
  async wait(): Promise<void> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#resolve = resolve));
    this.#isDue = false;
  }
}
