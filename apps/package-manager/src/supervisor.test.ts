import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { describe, expect, it } from "vitest";
import { Supervisor, type WorkerProcess } from "./supervisor.ts";

/** A worker that the test lets listen and exit. */
function fakeWorker(id: number) {
  const listening = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  const worker: WorkerProcess = {
    id,
    pid: id,
    listening: listening.promise,
    ended: ended.promise,
    stop: () => ended.resolve("exit code 0"),
  };
  return { ...worker, listen: () => listening.resolve(), end: (how: string) => ended.resolve(how) };
}

function supervise(count: number) {
  const ambient = virtualAmbient(1);
  const workers: ReturnType<typeof fakeWorker>[] = [];
  const startWorker = (): WorkerProcess => {
    const worker = fakeWorker(workers.length + 1);
    workers.push(worker);
    return worker;
  };
  const supervisor = new Supervisor({ count, startWorker, ambient, logger: NOOP_LOGGER });
  return { supervisor, workers, time: ambient.time };
}

describe("a supervisor", () => {
  it("starts one worker, and the others when it listens", async () => {
    const { supervisor, workers, time } = supervise(3);
    const starting = supervisor.start();
    await time.advance(60_000);
    expect(workers).toHaveLength(1);
    workers[0]?.listen();
    await starting;
    expect(workers).toHaveLength(3);
    await supervisor.close();
  });

  it("fails the start when the first worker exits, without a restart", async () => {
    const { supervisor, workers, time } = supervise(4);
    const starting = supervisor.start();
    workers[0]?.end("exit code 1");
    await expect(starting).rejects.toThrow(/first worker exited before it listened \(exit code 1\)/);
    await time.advance(600_000);
    expect(workers).toHaveLength(1);
  });

  it("restarts with a growing backoff, and resets it after a healthy uptime", async () => {
    const { supervisor, workers, time } = supervise(2);
    const starting = supervisor.start();
    workers[0]?.listen();
    await starting;
    const restartedWithin = async (ms: number): Promise<boolean> => {
      const before = workers.length;
      workers.at(-1)?.end("SIGKILL");
      await time.advance(0.7 * ms);
      const tooSoon = workers.length;
      await time.advance(0.3 * ms);
      return tooSoon === before && workers.length === before + 1;
    };
    for (const ms of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]) {
      expect(await restartedWithin(ms), `after ${ms} ms`).toBe(true);
    }
    await time.advance(60_000);
    expect(await restartedWithin(1_000)).toBe(true);
    await supervisor.close();
  });

  it("stops all workers and restarts none", async () => {
    const { supervisor, workers, time } = supervise(2);
    const starting = supervisor.start();
    workers[0]?.listen();
    await starting;
    workers[1]?.end("SIGKILL");
    await time.advance(0);
    await supervisor.close();
    await expect(workers[0]?.ended).resolves.toBe("exit code 0");
    await time.advance(600_000);
    expect(workers).toHaveLength(2);
  });
});
