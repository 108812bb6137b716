import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { LeaseRenewer } from "./lease-renewer.ts";

const TTL = 9000;

function renewerWith(renew: (signal: AbortSignal) => Promise<number | undefined>, keepAlive = true) {
  const ambient = virtualAmbient(1);
  const renewals: number[] = [];
  let ended = 0;
  let revoked = 0;
  const lease = new LeaseRenewer(
    ambient,
    { id: "l", ttlMs: TTL, requestedAt: ambient.clock.monotonic(), keepAlive },
    {
      renew: (signal) => {
        renewals.push(ambient.clock.monotonic());
        return renew(signal);
      },
      revoke: async () => void (revoked += 1),
      ended: () => void (ended += 1),
    },
  );
  return { lease, time: ambient.time, renewals, counts: () => ({ ended, revoked }) };
}

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe("LeaseRenewer", () => {
  test("renews after each third of the time to live", async () => {
    const { lease, time, renewals } = renewerWith(async () => TTL);
    await time.advance(60_000);
    expect(renewals.slice(0, 4)).toEqual([3000, 6000, 9000, 12_000]);
    expect(lease.lost.aborted).toBe(false);
    lease.assertHeld();
  });

  const losses: { case: string; renew: () => Promise<number | undefined>; lostBy: number; message: RegExp }[] = [
    {
      case: "the store is unavailable",
      renew: () => Promise.reject(unavailable("etcd", "away")),
      lostBy: TTL,
      message: /not renewed/,
    },
    { case: "the store hangs", renew: never, lostBy: TTL, message: /not renewed/ },
    {
      case: "the lease no longer exists",
      renew: async () => undefined,
      lostBy: 3001,
      message: /expired or was revoked/,
    },
  ];
  test.each(losses)(
    "reports the loss before the store can end the lease when $case",
    async ({ renew, lostBy, message }) => {
      const { lease, time, counts } = renewerWith(renew);
      await time.advance(2999);
      expect(lease.lost.aborted).toBe(false);
      await time.advance(lostBy - 2999 - 1);
      expect(lease.lost.reason).toMatchObject({
        code: "OAAS_LEASE_LOST",
        message: expect.stringMatching(message) as string,
      });
      expect(() => lease.assertHeld()).toThrow(message);
      expect(counts().ended).toBe(1);
      const before = time.pendingTimers;
      await time.advance(100_000);
      expect(time.pendingTimers, "nothing is left running").toBe(Math.min(before, 0));
    },
  );

  test("counts a renewal from when it was sent, not from the response", async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    let calls = 0;
    const { lease, time } = renewerWith(() => ((calls += 1) === 1 ? promise : never()));
    await time.advance(4400);
    resolve(TTL);
    await time.advance(3000 + TTL * 0.9 - 4400 - 1);
    expect(lease.lost.aborted).toBe(false);
    await time.advance(1);
    expect(lease.lost.aborted).toBe(true);
  });

  test("survives failures that end before the expiry", async () => {
    let failures = 3;
    const { lease, time } = renewerWith(async () => {
      failures -= 1;
      if (failures >= 0) throw unavailable("etcd", "away");
      return TTL;
    });
    await time.advance(30_000);
    lease.assertHeld();
  });

  test("adopts a longer or shorter time to live of the store", async () => {
    const { time, renewals } = renewerWith(async () => 3000);
    await time.advance(6000);
    expect(renewals).toEqual([3000, 4000, 5000, 6000]);
  });

  test("detects the expiry by the clock when no timer fired", () => {
    const ambient = virtualAmbient(1);
    let now = 0;
    const frozen = { clock: { now: () => now, monotonic: () => now }, timers: ambient.timers };
    const lease = new LeaseRenewer(
      frozen,
      { id: "l", ttlMs: TTL, requestedAt: 0, keepAlive: false },
      { renew: never, revoke: async () => undefined, ended: () => undefined },
    );
    lease.assertHeld();
    now = TTL * 0.9;
    expect(() => lease.assertHeld()).toThrow(/not renewed/);
  });

  test("ends once, and revokes on request", async () => {
    const { lease, counts } = renewerWith(never);
    await lease.revoke();
    lease.markLost("again");
    expect(lease.lost.reason).toMatchObject({ message: expect.stringContaining("revoked by its owner") as string });
    expect(counts()).toEqual({ ended: 1, revoked: 1 });
  });
});
