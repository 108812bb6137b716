import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Timers } from "@oaas/foundation";

/** A line that says nothing, so that proxies and clients see that the stream lives. */
const HEARTBEAT_MS = 15_000;

/** One server-sent event. */
export function eventText(event: { readonly id: string; readonly type: string; readonly data: string }): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${event.data}\n\n`;
}

/**
 * Sends events as they come, until they end or the client goes. A client that reads slowly is waited for; what it has not read
 * is kept by nobody but the feed, which drops it when it is too far behind.
 */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<string>,
  timers: Timers,
): Promise<void> {
  response.write(": connected\n\n");
  let heartbeat = timers.after(HEARTBEAT_MS, beat);
  function beat(): void {
    response.write(": alive\n\n");
    heartbeat = timers.after(HEARTBEAT_MS, beat);
  }
  try {
    for await (const event of events) {
      if (response.destroyed) break;
      if (!response.write(event)) await Promise.race([once(response, "drain"), once(response, "close")]);
    }
  } catch {
    // The client sees the end of the stream and resumes after the last event it has.
  } finally {
    heartbeat.cancel();
    response.end();
  }
}
