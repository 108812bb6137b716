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
import { sorted } from "./list-classes.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import type { ClassChange, ClassDirectory, StoredClass } from "../../classes/ports.ts";

/** What watching needs. */
export interface WatchDeps {
  readonly directory: ClassDirectory;
  readonly namespaces: NamespaceRules;
  readonly log: ChangeLog;
  readonly ambient: Pick<Ambient, "clock" | "timers">;
  /** A stream that has nothing to say says so after this long. Default 15 s. */
  readonly bookmarkMs?: number;
}

type WatchEvent = MessageInitShape<typeof WatchClassRuntimesResponseSchema>;

/**
 * What is there, then every change, until the caller stops. A caller that comes back with a token gets what it missed, or a snapshot
 * when that is no longer kept; so does one that reads too slowly.
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
  let spokeAt = clock.monotonic();
  while (!call.signal.aborted) {
    const missed = at === undefined ? undefined : log.since(at);
    if (missed === undefined) {
      at = log.head;
      yield* snapshot(deps.directory, matches, log.token(at));
      spokeAt = clock.monotonic();
      continue;
    }
    for (const { position, change } of missed) {
      at = position;
      const event = eventOf(change, matches);
      if (event === undefined) continue;
      yield { ...event, resumeToken: log.token(position) };
      spokeAt = clock.monotonic();
    }
    if (missed.length > 0) continue;
    // Changes that do not concern this caller must not make it believe that the stream is dead.
    const restMs = spokeAt + bookmarkMs - clock.monotonic();
    if (restMs > 0) await nextChange(restMs, call.signal, deps);
    else {
      yield { type: ClassRuntimeEventType.BOOKMARK, resumeToken: log.token(log.head) };
      spokeAt = clock.monotonic();
    }
  }
}

/** What is there at this moment: taken at once and then told, so that it is of one piece. */
function* snapshot(directory: ClassDirectory, matches: ClassFilter, resumeToken: string): Generator<WatchEvent> {
  const items = sorted([...directory.list()].filter(matches));
  yield { type: ClassRuntimeEventType.SNAPSHOT_STARTED };
  for (const object of items) yield eventWith(ClassRuntimeEventType.SNAPSHOT_ITEM, object);
  yield { type: ClassRuntimeEventType.SNAPSHOT_COMPLETE, resumeToken };
}

/** What a change means to a watcher with a filter: entering it is an addition, leaving it a deletion. */
function eventOf(change: ClassChange, matches: ClassFilter): WatchEvent | undefined {
  const { object } = change;
  const before = change.type === "added" ? false : matches(change.type === "updated" ? change.previous : object);
  const after = change.type === "deleted" ? false : matches(object);
  if (!before && !after) return undefined;
  if (!before) return eventWith(ClassRuntimeEventType.ADDED, object);
  return eventWith(after ? ClassRuntimeEventType.MODIFIED : ClassRuntimeEventType.DELETED, object);
}

function eventWith(type: ClassRuntimeEventType, object: StoredClass): WatchEvent {
  return { type, classRuntime: classRuntimeToSummary(object) };
}

/** Waits for the next change, but not for ever. */
async function nextChange(patienceMs: number, signal: AbortSignal, { log, ambient }: WatchDeps): Promise<void> {
  const patience = new AbortController();
  const timer = ambient.timers.after(patienceMs, () => patience.abort());
  await log.next(AbortSignal.any([signal, patience.signal]));
  timer.cancel();
}
