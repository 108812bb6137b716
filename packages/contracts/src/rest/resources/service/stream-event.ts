import { z } from "zod";
import { view } from "../../reading/fields.ts";

/** Topics of the event stream. */
export const EVENT_TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;

/** The data of one server-sent event. The header Last-Event-ID resumes a stream after `id`. */
export const streamEventView = view(
  {
    id: z.string(),
    topic: z.enum(EVENT_TOPICS),
    type: z.enum(["added", "changed", "removed", "progress", "resync"]),
    key: z.string(),
    at: z.string(),
    object: z.unknown().optional(),
  },
  {
    id: "Event id; send it as `last-event-id` to resume after this event.",
    topic: "Topic: the kind of the object.",
    type: "Event type; `resync` means that events were missed and the client must re-list.",
    key: "Key of the object.",
    at: "Time of the event.",
    object: "The object after the event, as its own route returns it; absent when it was removed.",
  },
);
