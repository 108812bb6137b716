import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { untilAccessEnds, watchAccess } from "./stream-access.ts";

const MINUTE_MS = 60_000;

function watched(check: () => Promise<void>) {
  const { time } = virtualAmbient(1);
  const disconnected = new AbortController();
  return { time, disconnected, access: watchAccess({ timers: time, signal: disconnected.signal, check }) };
}

test.each(["unauthenticated", "permission-denied"] as const)("ends a stream when its caller is %s", async (kind) => {
  let isAllowed = true;
  const { time, access } = watched(async () => {
    if (!isAllowed) throw new Fault(kind === "unauthenticated" ? { kind } : { kind, action: "read events" }, "ended");
  });
  await time.advance(MINUTE_MS);
  expect(access.signal.aborted).toBe(false);
  isAllowed = false;
  await time.advance(5_000);
  expect(access.signal.aborted).toBe(true);
  expect(await time.step(), "no timer is left").toBe(false);
});

test("keeps a stream open while the store of the sessions does not respond", async () => {
  const { time, access } = watched(async () => {
    throw new Fault({ kind: "unavailable", dependency: "store" }, "The store does not respond.");
  });
  await time.advance(MINUTE_MS);
  expect(access.signal.aborted).toBe(false);
  access.stop();
});

test("ends the checks with the stream, also when the client disconnects during a check", async () => {
  let answer = (): void => undefined;
  const { time, disconnected, access } = watched(() => new Promise((resolve) => (answer = resolve)));
  async function* events(): AsyncGenerator<string> {
    yield "one";
    await new Promise((resolve) => access.signal.addEventListener("abort", resolve));
  }
  const sent: string[] = [];
  const done = (async () => {
    for await (const event of untilAccessEnds(events(), access)) sent.push(event);
  })();
  await time.advance(5_000);
  disconnected.abort();
  await done;
  answer();
  await time.advance(MINUTE_MS);
  expect(sent).toEqual(["one"]);
  expect(await time.step(), "no timer is left").toBe(false);
});
