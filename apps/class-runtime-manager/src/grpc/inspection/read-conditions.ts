import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetConditionsResponseSchema } from "@oaas/contracts/grpc";
import type { StoredClass } from "../../classes/ports.ts";
import { toObservedEvent } from "../../lifecycle/observation/observed-event.ts";
import { compareText, type EventObject } from "../../lifecycle/observation/observed-objects.ts";
import { conditionToWire } from "../../mapping/status/status-parts-to-wire.ts";

/** Events in one response. */
const MAX_EVENTS = 200;

/** The conditions of a class, and the Events about them, newest first. */
export function readConditions(
  { status }: StoredClass,
  events: readonly EventObject[],
): MessageInitShape<typeof GetConditionsResponseSchema> {
  return {
    conditions: (status?.conditions ?? []).map(conditionToWire),
    events: events
      .map((event) => toObservedEvent(event))
      .toSorted((a, b) => compareText(b.lastSeen, a.lastSeen) || compareText(a.name, b.name))
      .slice(0, MAX_EVENTS)
      .map(({ warning, reason, message, count, lastSeen: at }) => ({
        type: warning ? "Warning" : "Normal",
        reason,
        message,
        count: Math.min(Math.max(0, Math.trunc(count)), MAX_COUNT),
        at,
      })),
  };
}

/** The largest count of the contract. */
const MAX_COUNT = 2 ** 32 - 1;
