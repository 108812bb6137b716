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

/** Asked for by `sendInitialEvents`: marks the bookmark behind the last object that was there at the start. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * The events of a watch, from its lines.
 *
 * Guarantees: an error event is thrown as its fault, and a line that is no event as unavailable: what is given is an object with a
 * version. Types that we do not know are passed over.
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
  if (typeof resourceVersion !== "string") throw rubbish(`${what} brought an event without a versioned object`, line);
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
    throw rubbish(`${what} brought a line that is no JSON`, line, error);
  }
}

function rubbish(message: string, line: string, cause?: unknown): Fault {
  const context = { start: line.slice(0, 200) };
  return new Fault({ kind: "unavailable", dependency: "API server" }, message, { context, cause });
}
