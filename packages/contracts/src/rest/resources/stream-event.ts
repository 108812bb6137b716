import { z } from "zod";
import { view } from "../fields.ts";

/** What a stream of server-sent events is about. */
export const EVENT_TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;

/** The data of one server-sent event. A stream is resumed after `id` with the header Last-Event-ID. */
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
    id: "For `last-event-id`: the stream goes on after it.",
    topic: "What kind of thing it is about.",
    type: "What happened; `resync` when events were missed and everything is to be read again.",
    key: "Which one it is about.",
    at: "When.",
    object: "The thing after the event, in the form its own route answers; absent when it is gone.",
  },
);
