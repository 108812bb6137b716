import { deadlineExceeded, Fault, failedPrecondition, notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { ClusterGuard, DEFAULT_GUARD, withClusterName, type GuardPolicy } from "./cluster-guard.ts";

const edge = "edge" as ClusterName;
const gone = unavailable("edge", "connection refused");

function guarded(options: { attempts?: number; policy?: Partial<GuardPolicy> } = {}) {
  const ambient = virtualAmbient(1);
  const policy = { ...DEFAULT_GUARD, breaker: { threshold: 2, openMs: 10_000 }, ...options.policy };
  const guard = new ClusterGuard({ cluster: edge, ambient, policy, attempts: options.attempts ?? 1 });
  let tries = 0;
  /** Runs to its end on virtual time; the fates are those of the attempts, the last one repeated. */
  const run = async (
    fates: readonly ("ok" | "hang" | Fault)[],
    call: { probe?: boolean; signal?: AbortSignal; deadlineMs?: number } = {},
  ) => {
    tries = 0;
    const done = guard
      .call(
        () => {
          const fate = fates[Math.min(tries, fates.length - 1)];
          tries += 1;
          if (fate === "hang") return new Promise<string>(() => undefined);
          return fate instanceof Fault ? Promise.reject(fate) : Promise.resolve("answer");
        },
        { deadlineMs: 5_000, ...call },
      )
      .catch((thrown: unknown) => thrown as Fault);
    const progress = { over: false };
    void done.then(() => (progress.over = true));
    while (!progress.over) await ambient.time.step();
    return done;
  };
  return { guard, ambient, run, tries: () => tries };
}

describe("a guarded call", () => {
  it("is repeated while its fault is retryable, and no more often than allowed", async () => {
    const { run, tries } = guarded({ attempts: 3 });
    expect(await run([gone, gone, "ok"])).toBe("answer");
    expect(tries()).toBe(3);
    expect(await run([gone])).toMatchObject({ detail: { kind: "unavailable" } });
    expect(tries()).toBe(3);
    expect(await run([failedPrecondition("odgm", "off")])).toMatchObject({ detail: { kind: "failed-precondition" } });
    expect(tries()).toBe(1);
  });

  it("ends by its deadline when the cluster hangs, and names the cluster", async () => {
    const { run, ambient } = guarded({ attempts: 3 });
    const fault = (await run(["hang"])) as Fault;
    expect(fault).toMatchObject({ detail: { kind: "deadline-exceeded" } });
    expect(fault.message).toContain('cluster "edge"');
    expect(ambient.clock.monotonic()).toBe(5_000);
  });

  it("tells what failed rather than that time ran out between two attempts", async () => {
    const { run } = guarded({ attempts: 9 });
    const busy = unavailable("edge", "not read yet", { retryAfterMs: 60_000 });
    expect(await run([busy])).toMatchObject({ message: 'cluster "edge": not read yet' });
  });

  it("is refused at once after failures in a row, until one probe was answered", async () => {
    const { run, guard, ambient, tries } = guarded();
    await run([gone]);
    expect(guard.state).toBe("closed");
    await run([gone]);
    expect(guard.state).toBe("open");
    const refused = (await run(["ok"])) as Fault;
    expect(tries()).toBe(0);
    expect(refused.detail).toMatchObject({ kind: "unavailable", retryAfterMs: 10_000 });
    await run([gone], { probe: true });
    expect(guard.state).toBe("open");
    await ambient.time.advance(10_000);
    expect(guard.state).toBe("half-open");
    expect(await run(["ok"])).toBe("answer");
    expect(guard.state).toBe("closed");
  });

  it("a health check closes it before the rest is over", async () => {
    const { run, guard } = guarded();
    await run([gone]);
    await run([gone]);
    expect(await run(["ok"], { probe: true })).toBe("answer");
    expect(guard.state).toBe("closed");
  });

  const lives: { fault: Fault; opens: boolean; why: string }[] = [
    { fault: notFound("class runtime", "a"), opens: false, why: "an answer, if not the wished one" },
    { fault: failedPrecondition("odgm", "off"), opens: false, why: "a refusal comes from a living cluster" },
    { fault: gone, opens: true, why: "nobody there" },
    { fault: deadlineExceeded(10), opens: true, why: "nobody answered in time" },
  ];
  it.each(lives)("$fault.kind: $why", async ({ fault, opens }) => {
    const { run, guard } = guarded();
    for (let n = 0; n < 4; n += 1) await run([fault]);
    expect(guard.state === "open").toBe(opens);
  });

  it("a caller that gives up says nothing of the cluster", async () => {
    const { guard, run } = guarded();
    for (let n = 0; n < 4; n += 1) {
      const caller = new AbortController();
      const call = guard.call(() => new Promise(() => undefined), { deadlineMs: 5_000, signal: caller.signal });
      caller.abort();
      await expect(call).rejects.toMatchObject({ detail: { kind: "cancelled" } });
    }
    expect(guard.state).toBe("closed");
    expect(await run(["ok"])).toBe("answer");
  });

  it("so many at once and no more; health checks do not queue", async () => {
    const { guard } = guarded({ policy: { mostAtOnce: 2, mostWaiting: 1 } });
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
