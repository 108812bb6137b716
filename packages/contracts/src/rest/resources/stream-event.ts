import { z } from "zod";
import { view } from "../fields.ts";

/** What a stream of server-sent events is about. */
export const EVENT_TOPICS = ["deployment", "operation", "cluster", "class-runtime", "package"] as const;

/** The data of one server-sent event. A stream is resumed after `id` with the header Last-Event-ID. */
export const streamEventView = view({
  id: z.string(),
  topic: z.enum(EVENT_TOPICS),
  type: z.enum(["added", "changed", "removed", "progress", "resync"]),
  key: z.string(),
  at: z.string(),
  /** The thing after the event, in the form its own route answers; absent when it is gone. */
  object: z.unknown().optional(),
});
