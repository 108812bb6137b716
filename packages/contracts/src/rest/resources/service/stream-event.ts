import { z } from "zod";
import { field, view } from "../../reading/fields.ts";

/** Topics of the event stream. */
export const EVENT_TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;

/** The data of one server-sent event. The header Last-Event-ID resumes a stream after `id`. */
export const streamEventView = view({
  id: field("Event id; send it as `last-event-id` to resume after this event.", z.string()),
  topic: field("Topic: the kind of the object.", z.enum(EVENT_TOPICS)),
  type: field(
    "Event type; `resync` means that events were missed and the client must re-list.",
    z.enum(["added", "changed", "removed", "progress", "drift-corrected", "replan", "restart-turn", "resync"]),
  ),
  key: field("Key of the object.", z.string()),
  at: field("Time of the event.", z.string()),
  object: field(
    "The object after the event, as its own route returns it; absent when it was removed.",
    z.unknown().optional(),
  ),
});
