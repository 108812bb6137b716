import { deadlineExceeded, Fault, failedPrecondition, notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { ClusterGuard, DEFAULT_GUARD, withClusterName, type GuardPolicy } from "./cluster-guard.ts";

const edge = "edge" as ClusterName;
const refused = unavailable("edge", "connection refused");

function createGuard(options: { attempts?: number; policy?: Partial<GuardPolicy> } = {}) {
  const ambient = virtualAmbient(1);
  const policy = { ...DEFAULT_GUARD, breaker: { threshold: 2, openMs: 10_000 }, ...options.policy };
  const guard = new ClusterGuard({ cluster: edge, ambient, policy });
  let attempts = 0;
  /** Runs one call on virtual time. The last outcome repeats for further attempts. */
  const run = async (
    outcomes: readonly ("ok" | "hang" | Fault)[],
    call: { probe?: boolean; explicit?: boolean; signal?: AbortSignal; deadlineMs?: number } = {},
  ) => {
    attempts = 0;
    const done = guard
      .call(
        () => {
          const outcome = outcomes[Math.min(attempts, outcomes.length - 1)];
          attempts += 1;
          if (outcome === "hang") return new Promise<string>(() => undefined);
          return outcome instanceof Fault ? Promise.reject(outcome) : Promise.resolve("answer");
        },
        { deadlineMs: 5_000, ...(options.attempts === undefined ? {} : { attempts: options.attempts }), ...call },
      )
      .catch((thrown: unknown) => thrown as Fault);
    const progress = { over: false };
    void done.then(() => (progress.over = true));
    while (!progress.over) await ambient.time.step();
    return done;
  };
  return { guard, ambient, run, attempts: () => attempts };
}

describe("ClusterGuard", () => {
  it("retries retryable faults up to the allowed attempts", async () => {
    const { run, attempts } = createGuard({ attempts: 3 });
    expect(await run([refused, refused, "ok"])).toBe("answer");
    expect(attempts()).toBe(3);
    expect(await run([refused])).toMatchObject({ detail: { kind: "unavailable" } });
    expect(attempts()).toBe(3);
    expect(await run([failedPrecondition("odgm", "off")])).toMatchObject({ detail: { kind: "failed-precondition" } });
    expect(attempts()).toBe(1);
  });

  it("ends a hanging call at its deadline, with the cluster in the message", async () => {
    const { run, ambient } = createGuard({ attempts: 3 });
    const fault = (await run(["hang"])) as Fault;
    expect(fault).toMatchObject({ detail: { kind: "deadline-exceeded" } });
    expect(fault.message).toContain('cluster "edge"');
    expect(ambient.clock.monotonic()).toBe(5_000);
  });

  it("reports the last fault when the deadline passes between attempts", async () => {
    const { run } = createGuard({ attempts: 9 });
    const busy = unavailable("edge", "not read yet", { retryAfterMs: 60_000 });
    expect(await run([busy])).toMatchObject({ message: 'cluster "edge": not read yet' });
  });

  it("probes an open breaker by an explicit request half a second after the cluster came back", async () => {
    const { run, guard, ambient, attempts } = createGuard();
    await run([refused]);
    await run([refused]);
    expect(await run(["ok"], { explicit: true }), "the last call failed less than a second ago").toMatchObject({
      detail: { kind: "unavailable", retryAfterMs: 1_000 },
    });
    await ambient.time.advance(1_000);
    await run([refused], { explicit: true });
    expect(attempts()).toBe(1);
    await ambient.time.advance(1_000);
    expect(await run(["ok"])).toMatchObject({ detail: { retryAfterMs: 9_000 } });
    expect(await run(["ok"], { explicit: true })).toBe("answer");
    expect(guard.state).toBe("closed");
  });

  it("rejects calls after consecutive failures until a probe succeeds", async () => {
    const { run, guard, ambient, attempts } = createGuard();
    await run([refused]);
    expect(guard.state).toBe("closed");
    await run([refused]);
    expect(guard.state).toBe("open");
    const rejected = (await run(["ok"])) as Fault;
    expect(attempts()).toBe(0);
    expect(rejected.detail).toMatchObject({ kind: "unavailable", retryAfterMs: 10_000 });
    await run([refused], { probe: true });
    expect(guard.state).toBe("open");
    await ambient.time.advance(10_000);
    expect(guard.state).toBe("half-open");
    expect(await run(["ok"])).toBe("answer");
    expect(guard.state).toBe("closed");
  });

  it("closes the breaker early after a successful health check", async () => {
    const { run, guard } = createGuard();
    await run([refused]);
    await run([refused]);
    expect(await run(["ok"], { probe: true })).toBe("answer");
    expect(guard.state).toBe("closed");
  });

  const outcomes: { fault: Fault; opens: boolean; why: string }[] = [
    { fault: notFound("class runtime", "a"), opens: false, why: "a response keeps the breaker closed" },
    { fault: failedPrecondition("odgm", "off"), opens: false, why: "a rejection is a response" },
    { fault: refused, opens: true, why: "no connection opens the breaker" },
    { fault: deadlineExceeded(10), opens: true, why: "a timeout opens the breaker" },
  ];
  it.each(outcomes)("$fault.kind: $why", async ({ fault, opens }) => {
    const { run, guard } = createGuard();
    for (let n = 0; n < 4; n += 1) await run([fault]);
    expect(guard.state === "open").toBe(opens);
  });

  it("ignores calls that the caller aborts", async () => {
    const { guard, run } = createGuard();
    for (let n = 0; n < 4; n += 1) {
      const caller = new AbortController();
      const call = guard.call(() => new Promise(() => undefined), { deadlineMs: 5_000, signal: caller.signal });
      caller.abort();
      await expect(call).rejects.toMatchObject({ detail: { kind: "cancelled" } });
    }
    expect(guard.state).toBe("closed");
    expect(await run(["ok"])).toBe("answer");
  });

  it("limits concurrent calls, except health checks", async () => {
    const { guard } = createGuard({ policy: { maxConcurrent: 2, maxWaiting: 1 } });
    const hang = () => new Promise<string>(() => undefined);
    for (let n = 0; n < 3; n += 1) void guard.call(hang, { deadlineMs: 5_000 }).catch(() => undefined);
    await expect(guard.call(hang, { deadlineMs: 5_000 })).rejects.toMatchObject({
      detail: { kind: "resource-exhausted" },
    });
    expect(await guard.call(async () => "fine", { deadlineMs: 5_000, probe: true })).toBe("fine");
  });

  it("keeps code, detail, evidence and correlation id when it names the cluster", () => {
    const evidence = { reason: "disk" };
    const fault = new Fault({ kind: "internal" }, "broken", {
      correlationId: "c-1",
      code: "OAAS_STORE_FULL",
      evidence,
    });
    expect(withClusterName(edge, fault)).toMatchObject({
      message: 'cluster "edge": broken',
      correlationId: "c-1",
      code: "OAAS_STORE_FULL",
      evidence,
      cause: fault,
    });
    expect(withClusterName(edge, withClusterName(edge, fault)).message).toBe('cluster "edge": broken');
  });
});
