import { Fault, orAbort, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { afterEach, describe, expect, it } from "vitest";
import type { CallOptions, RuntimeChange, UnitReport } from "../ports.ts";
import { CrmWatcher } from "./crm-watcher.ts";
import { RuntimeView } from "./runtime-view.ts";
import { reportOf } from "./testing/reports.ts";

const edge = "edge" as ClusterName;
const unimplemented = new Fault({ kind: "unimplemented", feature: "watch" }, "no such method");

const open: CrmWatcher[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** The events of a stream before it hangs, ends or fails. */
type Script = readonly (RuntimeChange | "end" | Fault)[];

function watching(scripts: readonly Script[], lists: () => readonly UnitReport[] | Fault = () => []) {
  const ambient = virtualAmbient(5);
  const view = new RuntimeView(ambient.clock);
  const counts = { streams: 0, lists: 0 };
  const names = [{ name: edge }];
  const listeners = new Set<(name: ClusterName) => void>();
  const gateway = {
    async *watch(_cluster: ClusterName, { signal }: CallOptions = {}): AsyncGenerator<RuntimeChange> {
      const script = scripts[Math.min(counts.streams, scripts.length - 1)] ?? [];
      counts.streams += 1;
      for (const step of script) {
        if (step === "end") return;
        if (step instanceof Fault) throw step;
        yield step;
      }
      await orAbort(new Promise(() => undefined), signal);
    },
    async *runtimes(): AsyncGenerator<UnitReport> {
      counts.lists += 1;
      const found = lists();
      if (found instanceof Fault) throw found;
      yield* found;
    },
  };
  const clusters = {
    list: () => names,
    onChange: (listener: (name: ClusterName) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const watcher = new CrmWatcher({ clusters, gateway, view, ambient, pollMs: 10_000, silenceMs: 30_000 });
  open.push(watcher);
  watcher.start();
  const remove = (): void => {
    names.splice(0);
    for (const listener of listeners) listener(edge);
  };
  return { view, counts, time: ambient.time, watcher, remove };
}

const account: Script = [{ type: "syncing" }, { type: "changed", report: reportOf("edge", "a") }, { type: "synced" }];

describe("CrmWatcher", () => {
  it("reopens a stream that ends or fails, with backoff until the next complete list", async () => {
    const { view, counts, time } = watching([[...account, "end"], [unavailable("edge", "cut")], account]);
    await time.advance(0);
    expect(view.syncState(edge)).toBe("unknown");
    expect(view.syncError(edge)).toContain("closed the watch stream");
    await time.advance(500);
    expect(view.syncError(edge)).toBe("cut");
    await time.advance(1_500);
    expect(counts.streams).toBe(3);
    expect(view.syncState(edge)).toBe("live");
  });

  it("closes a silent stream", async () => {
    const { view, counts, time } = watching([account]);
    await time.advance(29_000);
    expect([view.syncState(edge), counts.streams]).toEqual(["live", 1]);
    await time.advance(1_000);
    expect(view.syncError(edge)).toContain("no watch event for 30 s");
    await time.advance(500);
    expect([view.syncState(edge), counts.streams]).toEqual(["live", 2]);
  });

  it("backs off while a cluster is unreachable", async () => {
    const { counts, time } = watching([[unavailable("edge", "connection refused")]]);
    await time.advance(600_000);
    expect(counts.streams).toBeGreaterThan(15);
    expect(counts.streams).toBeLessThan(60);
  });

  it("reconnects at once to a recovered cluster", async () => {
    const refused: Script = [unavailable("edge", "connection refused")];
    const { view, counts, time, watcher } = watching([
      refused,
      refused,
      refused,
      refused,
      refused,
      refused,
      refused,
      account,
    ]);
    while (counts.streams < 7) await time.advance(100);
    await time.advance(1_000);
    expect(counts.streams, "it waits").toBe(7);
    watcher.reconnectNow(edge);
    await time.advance(0);
    expect(view.syncState(edge)).toBe("live");
    watcher.reconnectNow(edge);
    await time.advance(0);
    expect(counts.streams, "where nothing is waited for, nothing is done").toBe(8);
  });

  it("polls without watch support and tries watch again from time to time", async () => {
    let units: readonly UnitReport[] | Fault = [reportOf("edge", "a")];
    const { view, counts, time } = watching([[unimplemented]], () => units);
    await time.advance(0);
    expect(view.syncState(edge)).toBe("polled");
    units = unavailable("edge", "down");
    await time.advance(11_000);
    expect(view.syncError(edge)).toBe("down");
    expect([...view.unitsOf(edge)]).toHaveLength(1);
    units = [];
    await time.advance(11_000);
    expect([...view.unitsOf(edge)]).toHaveLength(0);
    await time.advance(400_000);
    expect(counts.lists).toBeGreaterThan(35);
    expect(counts.streams).toBe(3);
  });

  it("stops on close and when the cluster is removed", async () => {
    const { view, counts, time, remove, watcher } = watching([account]);
    await time.advance(0);
    remove();
    await time.advance(120_000);
    expect([...view.unitsOf(edge)]).toEqual([]);
    expect(counts.streams).toBe(1);
    await watcher.close();
    await watcher.close();
    expect(time.pendingTimers).toBe(0);
  });
});
