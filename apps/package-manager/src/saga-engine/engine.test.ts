import { setImmediate } from "node:timers/promises";
import { failedPrecondition, invalidArgument, notFound, sleep, unavailable, type Ambient } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore, type SharedStore } from "@oaas/storage/memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hookedStore, lostResponse, type CommitHook } from "../../test/fakes/hooked-store.ts";
import { SagaEngine } from "./engine.ts";
import type { NewSaga } from "./saga.ts";
import type { SagaReference } from "./waiters.ts";

const LEASE_MS = 9_000;

let ambient: ReturnType<typeof virtualAmbient>;
let shared: SharedStore;
/** The effects of steps, in order. */
let effects: string[];
let perform: (id: string, by: string, signal: AbortSignal) => Promise<void>;
let open: () => Promise<void>;
beforeEach(() => {
  ambient = virtualAmbient(7);
  shared = openMemoryStore({ ambient });
  effects = [];
  perform = async () => undefined;
  open = async () => undefined;
});
afterEach(() => shared.close());

interface Under {
  readonly engine: SagaEngine;
  readonly store: KeyValueStore;
  onCommit: CommitHook | undefined;
}

async function engineOf(name: string, own: Ambient = ambient, onCommit?: CommitHook): Promise<Under> {
  const handle = shared.connect(own);
  const under: Under = {
    onCommit,
    store: hookedStore(handle, () => under.onCommit),
    engine: undefined as unknown as SagaEngine,
  };
  const engine = new SagaEngine({
    store: under.store,
    ambient: own,
    logger: NOOP_LOGGER,
    retries: 2,
    leaseMs: LEASE_MS,
  });
  engine.register({
    name: "toy",
    open: async () => {
      await open();
      return {
        perform: async ({ id }, { signal }) => {
          effects.push(`${name} does ${id}`);
          await perform(id, name, signal);
          return "ok";
        },
        undo: async ({ id }) => {
          effects.push(`${name} undoes ${id}`);
          return "ok";
        },
        finish: async ({ subject }, outcome) => ({
          transaction: { writes: [{ op: "put", key: `outcome/${subject}`, value: outcome }] },
        }),
      };
    },
  });
  await drive(engine.start());
  return Object.assign(under, { engine });
}

async function drive<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  work.finally(() => (isDone = true)).catch(() => undefined);
  for (let turn = 0; ; turn += 1) {
    if (turn > 5_000) throw new Error("it does not come to an end");
    await setImmediate();
    if (isDone) return work;
    await ambient.time.step();
  }
}

async function pass(ms: number): Promise<void> {
  const end = ambient.time.monotonic() + ms;
  while (ambient.time.monotonic() < end) {
    await setImmediate();
    await ambient.time.advance(Math.min(250, end - ambient.time.monotonic()));
  }
  await setImmediate();
}

function toy(ids: readonly string[], more: Partial<NewSaga> = {}): NewSaga {
  return {
    kind: "toy",
    subject: "thing",
    steps: ids.map((id) => ({ id, action: "do", target: id, stage: 0 })),
    parallel: 1,
    onFailure: "stop",
    data: {},
    ...more,
  };
}

async function launch({ engine }: Under, saga: NewSaga): Promise<SagaReference> {
  const { sagas } = await engine.commit([await engine.stage(await engine.get(saga.subject), saga)]);
  return sagas[0] as SagaReference;
}

const outcome = async (): Promise<string | undefined> => (await shared.get("outcome/thing"))?.value;
const run = async (under: Under, saga: NewSaga): Promise<string> => {
  const reference = await launch(under, saga);
  const waited = await drive(under.engine.wait(reference, { timeoutMs: 60_000 }));
  return waited.state === "ended" ? waited.saga.state : waited.state;
};
const slow = (ms = 1_000): void => {
  perform = () => sleep(ambient.timers, ms);
};

describe("a saga", () => {
  test("performs its steps stage by stage and ends in one transaction with its outcome", async () => {
    const a = await engineOf("A");
    const steps = [
      { id: "late", action: "do", target: "late", stage: 1 },
      { id: "one", action: "do", target: "one", stage: 0 },
      { id: "two", action: "do", target: "two", stage: 0 },
    ];
    expect(await run(a, toy([], { steps }))).toBe("succeeded");
    expect(effects).toEqual(["A does one", "A does two", "A does late"]);
    expect(await outcome()).toBe("succeeded");
  });

  test.each([
    { policy: "stop", did: ["A does 1", "A does 2"], ended: "failed", why: "no more steps start" },
    { policy: "go-on", did: ["A does 1", "A does 2", "A does 3"], ended: "failed", why: "the other steps continue" },
    {
      policy: "undo",
      did: ["A does 1", "A does 2", "A undoes 1", "A undoes 2"],
      ended: "undone",
      why: "a failed step may have had an effect",
    },
  ] as const)("a failure under $policy: $why", async ({ policy, did, ended }) => {
    const a = await engineOf("A");
    perform = async (id) => {
      if (id === "2") throw failedPrecondition("2", "no");
    };
    expect(await run(a, toy(["1", "2", "3"], { onFailure: policy }))).toBe(ended);
    expect(effects).toEqual(did);
  });

  test("continues after the failure of a step with mayFail", async () => {
    const a = await engineOf("A");
    perform = async (id) => {
      if (id === "1") throw failedPrecondition("1", "no");
    };
    const steps = [
      { id: "1", action: "do", target: "1", stage: 0, mayFail: true },
      { id: "2", action: "do", target: "2", stage: 1 },
    ];
    expect(await run(a, toy([], { steps, onFailure: "undo" }))).toBe("succeeded");
  });

  test("retries retryable faults up to the limit", async () => {
    const a = await engineOf("A");
    perform = async () => {
      throw unavailable("it", "down");
    };
    expect(await run(a, toy(["1"]))).toBe("failed");
    expect(effects).toEqual(["A does 1", "A does 1", "A does 1"]);
  });

  test.each([
    { why: "long messages", thrown: () => failedPrecondition("it", "\u0001é".repeat(300_000)) },
    {
      why: "many violations",
      thrown: () =>
        invalidArgument(
          "the unit",
          Array.from({ length: 10_000 }, (_, at) => ({ path: `$.functions[${at}]`, message: "is invalid" })),
        ),
    },
    { why: "long names", thrown: () => notFound("cluster", "x".repeat(2_000_000)) },
  ])("ends although the faults of its steps exceed a transaction: $why", async ({ thrown }) => {
    const a = await engineOf("A");
    perform = async () => {
      throw thrown();
    };
    const ids = ["1", "2", "3", "4"];
    expect(await run(a, toy(ids, { parallel: 4, onFailure: "go-on" }))).toBe("failed");
    const { steps } = (await a.engine.get("thing"))!.record;
    for (const { fault } of steps) {
      expect(fault).toMatchObject({ code: thrown().code, detail: { kind: thrown().kind } });
      expect(JSON.stringify(fault).length).toBeLessThan(10_000);
      expect(fault!.message.slice(0, 5)).toBe(thrown().message.slice(0, 5));
    }
    expect(effects.filter((effect) => effect.startsWith("A does"))).toHaveLength(4);
  });

  test("does not wait for a target with a long retry-after", async () => {
    const a = await engineOf("A");
    perform = async () => {
      throw unavailable("it", "its breaker is open", { retryAfterMs: 30_000 });
    };
    expect(await run(a, toy(["1"]))).toBe("failed");
    expect(effects).toEqual(["A does 1"]);
  });

  test("is committed before its effects, with the first steps started", async () => {
    const a = await engineOf("A");
    slow();
    await launch(a, toy(["1", "2"]));
    const states = async (): Promise<string> =>
      (await a.engine.get("thing"))!.record.steps.map(({ state }) => state).join(" ");
    expect(await states()).toBe("started waiting");
    await pass(1_500);
    expect(await states()).toBe("done started");
  });

  test("aborts and undoes its steps when cancelled", async () => {
    const a = await engineOf("A");
    perform = (id, _, signal) => (id === "2" ? sleep(ambient.timers, 60_000, signal) : Promise.resolve());
    const reference = await launch(a, toy(["1", "2", "3"]));
    await pass(500);
    await a.engine.cancel("thing", reference.id, "eve");
    const waited = await drive(a.engine.wait(reference, { timeoutMs: 60_000 }));
    expect(waited).toMatchObject({ state: "ended", saga: { state: "cancelled", cancelledBy: "eve" } });
    expect(effects).toEqual(["A does 1", "A does 2", "A undoes 1", "A undoes 2"]);
    await expect(a.engine.cancel("thing", reference.id, "eve")).rejects.toMatchObject({ kind: "failed-precondition" });
  });

  test("does nothing when cancelled before its first step", async () => {
    const a = await engineOf("A");
    open = () => sleep(ambient.timers, 100);
    perform = (_, __, signal) => sleep(ambient.timers, 600_000, signal);
    const reference = await launch(a, toy(["1", "2"]));
    await a.engine.cancel("thing", reference.id, "eve");
    await pass(2_000);
    expect(await outcome()).toBe("cancelled");
    expect(effects, "it was started in the journal").toEqual(["A undoes 1"]);
  });

  test("resolves an unknown commit outcome by reading", async () => {
    for (const isWritten of [true, false]) {
      const a = await engineOf("A");
      const reference = await launch(a, toy(["1", "2", "3"], { subject: `s${isWritten}` }));
      let lost = 0;
      a.onCommit = async (_, commit) => {
        if (isWritten) await commit();
        if ((lost += 1) % 2 === 1) throw lostResponse();
        return isWritten ? Promise.reject(lostResponse()) : commit();
      };
      const waited = await drive(a.engine.wait(reference, { timeoutMs: 600_000 }));
      expect(waited).toMatchObject({ state: "ended", saga: { state: "succeeded" } });
      expect(lost).toBeGreaterThan(1);
    }
    expect(effects.filter((effect) => effect.endsWith("1"))).toHaveLength(2);
  });
});

describe("several engines", () => {
  test("take over the saga of a dead engine where it stands", async () => {
    const a = await engineOf("A");
    slow(1_000);
    await launch(a, toy(["1", "2", "3"]));
    await pass(1_500);
    await a.store.close();
    await engineOf("B");
    await pass(LEASE_MS * 3);
    expect(await outcome()).toBe("succeeded");
    expect(effects).toEqual(["A does 1", "A does 2", "B does 2", "B does 3"]);
  });

  test("start although the lease is lost during the start", async () => {
    const a = await engineOf("A");
    slow(1_000);
    await launch(a, toy(["1"]));
    await a.store.close();
    await pass(LEASE_MS * 2);
    const lost: number[] = [];
    await engineOf("B", ambient, async (nth, commit) => {
      // The first commit acquires the lease, the second takes over the saga of A.
      if (nth === 2) {
        const { entries } = await shared.range({ prefix: "o/saga-engines/" });
        lost.push(entries.length);
        await shared.commit({ writes: entries.map(({ key }) => ({ op: "delete", key })) });
      }
      return commit();
    });
    await pass(LEASE_MS * 2);
    expect(lost).toEqual([1]);
    expect(await outcome()).toBe("succeeded");
  });

  test("take over the saga of a closed engine at once, after its running steps", async () => {
    const a = await engineOf("A");
    await engineOf("B");
    slow(1_000);
    await launch(a, toy(["1", "2"]));
    await pass(500);
    await drive(a.engine.close());
    await pass(LEASE_MS);
    expect(effects).toEqual(["A does 1", "B does 2"]);
    expect(await outcome()).toBe("succeeded");
  });

  test("write nothing after being frozen past the lease", async () => {
    const a = await engineOf("A");
    const b = await engineOf("B");
    let thaw: () => void = () => undefined;
    perform = async (id, by) => {
      if (by === "A" && id === "1") await new Promise<void>((resolve) => (thaw = resolve));
    };
    await launch(a, toy(["1", "2"]));
    const before = (await a.engine.get("thing"))!.record.owner;
    // The lease expires as if the renewals were lost.
    await shared.commit({ writes: [{ op: "delete", key: before }] });
    await pass(LEASE_MS);
    expect(await outcome()).toBe("succeeded");
    const { sequence } = (await b.engine.get("thing"))!.record;
    thaw();
    await pass(LEASE_MS);
    expect((await b.engine.get("thing"))!.record.sequence).toBe(sequence);
    expect(effects).toEqual(["A does 1", "B does 1", "B does 2"]);
  });

  test("return unavailable without a lease and acquire a new one", async () => {
    const a = await engineOf("A");
    slow();
    await launch(a, toy(["1"]));
    await pass(5_000);
    const { owner } = (await a.engine.get("thing"))!.record;
    await shared.commit({ writes: [{ op: "delete", key: owner }] });
    await expect(launch(a, toy(["2"]))).rejects.toMatchObject({ kind: "unavailable" });
    await pass(1_000);
    expect(await run(a, toy(["2"]))).toBe("succeeded");
    expect((await a.engine.get("thing"))!.record.owner).not.toBe(owner);
  });

  test("run a successor on the engine of its predecessor, after it", async () => {
    const a = await engineOf("A");
    const b = await engineOf("B");
    slow(1_000);
    const first = await launch(a, toy(["1", "2", "3"]));
    await pass(500);
    const second = await launch(b, toy(["4"]));
    const [one, two] = await drive(
      Promise.all([a.engine.wait(first, { timeoutMs: 60_000 }), b.engine.wait(second, { timeoutMs: 60_000 })]),
    );
    expect(one).toEqual({ state: "superseded" });
    expect(two).toMatchObject({ state: "ended", saga: { state: "succeeded" } });
    expect(effects).toEqual(["A does 1", "A does 4"]);
  });
});
