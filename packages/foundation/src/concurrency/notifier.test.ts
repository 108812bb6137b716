import { describe, expect, it } from "vitest";
import { Notifier } from "./notifier.ts";

describe("notifier", () => {
  it("wakes all waiting callers once", async () => {
    const notifier = new Notifier();
    const { signal } = new AbortController();
    const woken: string[] = [];
    const wait = (name: string) => notifier.wait(signal).then(() => woken.push(name));
    const both = [wait("a"), wait("b")];
    notifier.notify();
    await Promise.all(both);
    notifier.notify();
    expect(woken).toEqual(["a", "b"]);
  });

  it("stops waiting when the signal aborts, before or during the wait", async () => {
    const notifier = new Notifier();
    const stop = new AbortController();
    const waiting = notifier.wait(stop.signal);
    stop.abort();
    await waiting;
    await notifier.wait(stop.signal);
  });
});
