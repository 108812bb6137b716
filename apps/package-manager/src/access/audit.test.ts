import { verifyAuditLines, type AuditEntry } from "@oaas/contracts/rest";
import { sha256Hex } from "@oaas/foundation/hash";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingLogger } from "@oaas/observability/testing";
import { openMemoryStore } from "@oaas/storage/memory";
import { describe, expect, test } from "vitest";
import { AuditStore } from "../stores/audit-records.ts";
import { AuditTrail, type AuditedAttempt } from "./audit.ts";
import { AuditQueue, auditToLog, MAX_WAITING, type AuditSink } from "./audit-queue.ts";

const attempt = (target = "/api/v1/packages/a"): AuditedAttempt => ({
  actor: { subject: "u1", name: "ann", issuer: "https://id.example", role: "deployer", address: "127.0.0.1" },
  action: "updatePackage",
  target,
  correlationId: "c1",
});

/** A trail with a sink whose behaviour a test controls. */
function trailWith(sinkOf: (written: AuditEntry[]) => AuditSink["write"]) {
  const ambient = virtualAmbient(1);
  const { time } = ambient;
  const written: AuditEntry[] = [];
  const recording = createRecordingLogger();
  const store = openMemoryStore({ ambient });
  const records = new AuditStore({ store, ambient, logger: recording.log, keep: 100 });
  const queue = new AuditQueue({ sink: { write: sinkOf(written) }, ambient, logger: recording.log });
  const trail = new AuditTrail({ queue, records, ambient, instance: "p1" });
  return { trail, queue, records, store, written, recording, time };
}

const accepting = (written: AuditEntry[]) => async (entries: readonly AuditEntry[]) => void written.push(...entries);

describe("the audit trail", () => {
  test("stores the start of a change before it is made, and its end after it; lines form one chain", async () => {
    const { trail, written, records, time } = trailWith(accepting);
    const end = await trail.begin(attempt());
    expect((await records.list({})).items).toMatchObject([{ outcome: "started", status: null, id: "p1-1" }]);
    end({ status: 200 });
    await trail.refuse(attempt(), { status: 403, reason: "not yours" });
    await time.advance(1_000);
    expect((await records.list({})).items).toMatchObject([
      { id: "p1-2", outcome: "refused", status: 403, reason: "not yours" },
      { id: "p1-1", outcome: "succeeded", status: 200, actor: { subject: "u1", issuer: "https://id.example" } },
    ]);
    expect(written.map(({ outcome }) => outcome)).toEqual(["started", "succeeded", "refused"]);
    const lines = written.map((entry) => JSON.stringify(entry));
    expect(verifyAuditLines(lines, sha256Hex)).toMatchObject({ ok: true, lines: 3 });
  });

  test("changes that start together share a transaction", async () => {
    const { trail, store } = trailWith(accepting);
    const before = await store.revision();
    await Promise.all(Array.from({ length: 20 }, () => trail.begin(attempt())));
    expect((await store.revision()) - before).toBe(1);
  });

  test("refuses changes while the sink stalls, and accepts them when it continues; no line is lost", async () => {
    let resume = (): void => undefined;
    const stalled = new Promise<void>((resolve) => (resume = resolve));
    const { trail, queue, written, time } = trailWith((lines) => async (entries) => {
      await stalled;
      lines.push(...entries);
    });
    for (let index = 0; index < MAX_WAITING; index += 1) await trail.begin(attempt());
    const refused = expect(trail.begin(attempt())).rejects.toMatchObject({ kind: "unavailable" });
    await time.advance(2_000);
    await refused;
    expect(queue.warnings()[0]).toMatch(/the audit sink does not accept entries, 1000 wait: it stalls/);
    resume();
    await time.advance(1);
    (await trail.begin(attempt()))({ status: 200 });
    await time.advance(1);
    expect(written.map(({ seq }) => seq)).toEqual(Array.from({ length: MAX_WAITING + 2 }, (_, index) => index + 1));
    expect(queue.warnings()).toEqual([]);
  });

  test("writes entries again that the sink rejected, in order", async () => {
    let failures = 3;
    const { trail, written, recording, time } = trailWith((lines) => async (entries) => {
      if (failures-- > 0) throw new Error("disk full");
      lines.push(...entries);
    });
    for (let index = 0; index < 3; index += 1) await trail.begin(attempt());
    await time.advance(10_000);
    expect(written.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(recording.messages("error"), "logged once").toEqual(["write audit entries failed; retrying"]);
  });

  test("counts attempts without credentials while the sink is slow instead of refusing changes", async () => {
    let resume = (): void => undefined;
    const stalled = new Promise<void>((resolve) => (resume = resolve));
    const { trail, written, records, time } = trailWith((lines) => async (entries) => {
      await stalled;
      lines.push(...entries);
    });
    for (let index = 0; index < 3 * MAX_WAITING; index += 1) await trail.refuse(attempt(), { status: 401 });
    await trail.begin(attempt());
    resume();
    await time.advance(1_000);
    expect(written).toHaveLength(MAX_WAITING / 2 + 1);
    expect(written.at(-1)).toMatchObject({ outcome: "started", omitted: 2.5 * MAX_WAITING });
    expect((await records.list({})).total, "they displace nothing").toBe(1);
  });

  test("does not start a change that the store cannot record", async () => {
    const { trail, store, written, time } = trailWith(accepting);
    await store.close();
    await expect(trail.begin(attempt())).rejects.toThrow();
    await time.advance(1);
    expect(written.map(({ outcome }) => outcome)).toEqual(["started", "failed"]);
  });

  test("cuts long texts", async () => {
    const { trail, written, time } = trailWith(accepting);
    await trail.refuse(attempt("x".repeat(10_000)), { status: 400, reason: "y".repeat(10_000) });
    await time.advance(1);
    expect(JSON.stringify(written[0]).length).toBeLessThan(4_096);
  });
});

test("the sink of the log writes the end of each attempt", async () => {
  const recording = createRecordingLogger();
  const { trail, time } = trailWith(() => (entries) => auditToLog(recording.log).write(entries));
  (await trail.begin(attempt()))({ status: 204 });
  await trail.refuse(attempt(), { status: 403, reason: "not hers" });
  await time.advance(1);
  expect(recording.records.map(({ fields }) => fields)).toMatchObject([
    { audit: true, caller: "u1 (ann)", action: "updatePackage", status: 204, correlation_id: "c1" },
    { audit: true, status: 403, refused: "not hers" },
  ]);
});
