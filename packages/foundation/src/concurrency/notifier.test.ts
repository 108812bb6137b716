import { describe, expect, it } from "vitest";
import { Bell } from "./notifier.ts";

describe("a bell", () => {
  it("wakes all who wait, once", async () => {
    const bell = new Bell();
    const { signal } = new AbortController();
    const woken: string[] = [];
    const wait = (name: string) => bell.next(signal).then(() => woken.push(name));
    const both = [wait("a"), wait("b")];
    bell.ring();
    await Promise.all(both);
    bell.ring();
    expect(woken).toEqual(["a", "b"]);
  });

  it("is not waited for when the signal aborts, before or after", async () => {
    const bell = new Bell();
    const stop = new AbortController();
    const waiting = bell.next(stop.signal);
    stop.abort();
    await waiting;
    await bell.next(stop.signal);
  });
});
