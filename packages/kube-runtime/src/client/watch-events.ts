import { Fault } from "@oaas/foundation";
import { faultFromStatus, type KubeObject, type Stored } from "@oaas/kube-core";
import type { WatchEvent } from "../watch/watch-source.ts";
import { withTypeMeta, type ResourceType } from "./resource-type.ts";

interface RawEvent {
  readonly type?: unknown;
  readonly object?: {
    readonly metadata?: {
      readonly resourceVersion?: unknown;
      readonly annotations?: Readonly<Record<string, string>>;
    };
  };
}

/** Marks the bookmark after the last initial object; requested by `sendInitialEvents`. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Parses the events of a watch from its lines.
 *
 * Guarantees: an error event is thrown as its fault, an invalid line as unavailable; every returned event has a
 * versioned object. Unknown event types are skipped.
 */
export async function* readEvents<T extends KubeObject>(
  lines: AsyncIterable<string>,
  type: ResourceType<T>,
): AsyncGenerator<WatchEvent<Stored<T>>> {
  for await (const line of lines) {
    const event = parseEvent<T>(line, type);
    if (event) yield event;
  }
}

function parseEvent<T extends KubeObject>(line: string, type: ResourceType<T>): WatchEvent<Stored<T>> | undefined {
  const what = `watch ${type.kind}`;
  const { type: change, object } = parseJson(line, what);
  if (change === "ERROR") throw faultFromStatus(JSON.stringify(object ?? {}), { what });
  const resourceVersion = object?.metadata?.resourceVersion;
  if (typeof resourceVersion !== "string") throw invalidEvent(`${what} sent an event without a versioned object`, line);
  switch (change) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: change, object: withTypeMeta<T>(type, object as unknown as T) as Stored<T>, resourceVersion };
    case "BOOKMARK": {
      const initialEventsEnd = object?.metadata?.annotations?.[INITIAL_EVENTS_END] === "true";
      return { type: change, resourceVersion, initialEventsEnd };
    }
    default:
      return undefined;
  }
}

function parseJson(line: string, what: string): RawEvent {
  try {
    return (JSON.parse(line) as RawEvent | null) ?? {};
  } catch (error) {
    throw invalidEvent(`${what} sent a line that is not JSON`, line, error);
  }
}

function invalidEvent(message: string, line: string, cause?: unknown): Fault {
  const context = { start: line.slice(0, 200) };
  return new Fault({ kind: "unavailable", dependency: "API server" }, message, { context, cause });
}
