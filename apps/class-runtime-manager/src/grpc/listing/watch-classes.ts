import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  ClassRuntimeEventType,
  type WatchClassRuntimesRequest,
  type WatchClassRuntimesResponseSchema,
} from "@oaas/contracts/grpc";
import type { Ambient } from "@oaas/foundation";
import type { Call } from "@oaas/rpc";
import { classRuntimeToSummary } from "../../mapping/status/class-runtime-to-wire.ts";
import type { ChangeLog } from "./change-log.ts";
import { watchFilter, type ClassFilter } from "./class-filter.ts";
import { sortClasses } from "./list-classes.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import type { ClassChange, ClassDirectory, StoredClass } from "../../classes/ports.ts";

/** Dependencies of a watch. */
export interface WatchDeps {
  readonly directory: ClassDirectory;
  readonly namespaces: NamespaceRules;
  readonly log: ChangeLog;
  readonly ambient: Pick<Ambient, "clock" | "timers">;
  /** Interval of bookmarks on an idle stream. Default 15 s. */
  readonly bookmarkMs?: number;
}

type WatchEvent = MessageInitShape<typeof WatchClassRuntimesResponseSchema>;

/**
 * Streams a snapshot, then every change, until the call ends. A call with a resume token gets the changes since then,
 * or a snapshot if they are no longer in the log. A caller that reads too slowly gets a snapshot too.
 */
export async function* watchClasses(
  request: WatchClassRuntimesRequest,
  call: Call,
  deps: WatchDeps,
): AsyncGenerator<WatchEvent> {
  const { log } = deps;
  const { clock } = deps.ambient;
  const bookmarkMs = deps.bookmarkMs ?? 15_000;
  const matches = watchFilter(request, deps.namespaces);
  const { resumeToken } = request;
  let at = resumeToken === undefined || resumeToken === "" ? undefined : log.position(resumeToken);
  let lastEventAt = clock.monotonic();
  while (!call.signal.aborted) {
    const missed = at === undefined ? undefined : log.since(at);
    if (missed === undefined) {
      at = log.head;
      yield* snapshot(deps.directory, matches, log.token(at));
      lastEventAt = clock.monotonic();
      continue;
    }
    for (const { position, change } of missed) {
      at = position;
      const event = toWatchEvent(change, matches);
      if (event === undefined) continue;
      yield { ...event, resumeToken: log.token(position) };
      lastEventAt = clock.monotonic();
    }
    if (missed.length > 0) continue;
    // Filtered changes send nothing, so a bookmark shows that the stream is alive.
    const restMs = lastEventAt + bookmarkMs - clock.monotonic();
    if (restMs > 0) await waitForChange(restMs, call.signal, deps);
    else {
      yield { type: ClassRuntimeEventType.BOOKMARK, resumeToken: log.token(log.head) };
      lastEventAt = clock.monotonic();
    }
  }
}

/** The matching objects. They are collected before the first event, so that the snapshot is consistent. */
function* snapshot(directory: ClassDirectory, matches: ClassFilter, resumeToken: string): Generator<WatchEvent> {
  const items = sortClasses([...directory.list()].filter(matches));
  yield { type: ClassRuntimeEventType.SNAPSHOT_STARTED };
  for (const object of items) yield watchEvent(ClassRuntimeEventType.SNAPSHOT_ITEM, object);
  yield { type: ClassRuntimeEventType.SNAPSHOT_COMPLETE, resumeToken };
}

/**
 * Converts a change for a filtered watch: an object that starts to match is added, one that stops to match is deleted.
 */
function toWatchEvent(change: ClassChange, matches: ClassFilter): WatchEvent | undefined {
  const { object } = change;
  const before = change.type === "added" ? false : matches(change.type === "updated" ? change.previous : object);
  const after = change.type === "deleted" ? false : matches(object);
  if (!before && !after) return undefined;
  if (!before) return watchEvent(ClassRuntimeEventType.ADDED, object);
  return watchEvent(after ? ClassRuntimeEventType.MODIFIED : ClassRuntimeEventType.DELETED, object);
}

function watchEvent(type: ClassRuntimeEventType, object: StoredClass): WatchEvent {
  return { type, classRuntime: classRuntimeToSummary(object) };
}

/** Waits for the next change or the timeout. */
async function waitForChange(timeoutMs: number, signal: AbortSignal, { log, ambient }: WatchDeps): Promise<void> {
  const timeout = new AbortController();
  const timer = ambient.timers.after(timeoutMs, () => timeout.abort());
  await log.next(AbortSignal.any([signal, timeout.signal]));
  timer.cancel();
}
