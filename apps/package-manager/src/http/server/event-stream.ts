import type { ServerResponse } from "node:http";
import type { Timers } from "@oaas/foundation";

/** A comment so often keeps proxies and clients from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;

/** One server-sent event. */
export function eventText(event: { readonly id: string; readonly type: string; readonly data: string }): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${event.data}\n\n`;
}

/** Sends events until they end or the client disconnects, at the pace of the client. The feed drops a client that falls too far behind. */
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
      if (!response.write(event)) await drained(response);
    }
  } catch {
    // The client sees the end of the stream and resumes after the last event it received.
  } finally {
    heartbeat.cancel();
    response.end();
  }
}

/** Resolves when the client has read what was written, or has disconnected. Removes its listeners. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}
