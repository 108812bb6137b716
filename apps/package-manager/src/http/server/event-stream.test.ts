import { ServerResponse, IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { sendEvents } from "./event-stream.ts";

/** A response whose client reads nothing until the test emits drain. */
class SlowResponse extends ServerResponse {
  readonly written: string[] = [];
  override write(text: unknown): boolean {
    this.written.push(String(text));
    return false;
  }
}

test("a slow client leaves no listener per event behind", async () => {
  const { time } = virtualAmbient(1);
  const response = new SlowResponse(new IncomingMessage(new Socket()));
  const listeners = (): number =>
    response.listenerCount("drain") + response.listenerCount("close") + response.listenerCount("error");
  const before = listeners();
  const seen: number[] = [];
  async function* events(): AsyncGenerator<string> {
    for (let index = 0; index < 50; index += 1) {
      yield `event ${index}`;
      seen.push(listeners());
    }
  }
  const sent = sendEvents(response, events(), time);
  while (response.written.length < 51) {
    await new Promise((resolve) => setImmediate(resolve));
    response.emit("drain");
  }
  await sent;
  expect(seen).toEqual(Array.from({ length: 50 }, () => before));
});

test("ends when a slow client disconnects", async () => {
  const { time } = virtualAmbient(1);
  const response = new SlowResponse(new IncomingMessage(new Socket()));
  let ended = false;
  async function* events(): AsyncGenerator<string> {
    try {
      for (;;) yield "event";
    } finally {
      ended = true;
    }
  }
  const sent = sendEvents(response, events(), time);
  await new Promise((resolve) => setImmediate(resolve));
  response.destroy();
  response.emit("close");
  await sent;
  expect(ended).toBe(true);
  expect(time.pendingTimers).toBe(0);
});
