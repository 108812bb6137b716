import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, constants, mkdtempSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { json } from "node:stream/consumers";
import { CHAIN_START, sealAuditEntry, verifyAuditLines, type AuditEntry } from "@oaas/contracts/rest";
import { sha256Hex } from "@oaas/foundation/hash";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingLogger } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { AuditQueue } from "../../access/audit-queue.ts";
import { createFileSink } from "./file-sink.ts";
import { createOtlpSink } from "./otlp-sink.ts";
import { createDescriptorSink } from "./stdout-sink.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-audit-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function chainOf(count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  const actor = { subject: "ann", name: "ann", issuer: null, role: "admin", address: "::1" } as const;
  for (let seq = 1; seq <= count; seq += 1)
    entries.push(
      sealAuditEntry(
        {
          v: 1,
          time: "2026-01-01T00:00:00.000Z",
          instance: "p1",
          seq,
          id: `p1-${seq}`,
          actor,
          action: "createPackage",
          target: "/api/v1/packages/ä",
          outcome: "succeeded",
          status: 201,
          reason: null,
          correlation_id: "c",
          omitted: 0,
          prev: entries.at(-1)?.hash ?? CHAIN_START,
        },
        sha256Hex,
      ),
    );
  return entries;
}

const verified = (text: string) => verifyAuditLines(text.split("\n"), sha256Hex);

test("a stalled pipe delays lines and loses none", async () => {
  const pipe = path.join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
  const sink = createDescriptorSink(writer, realAmbient.timers);
  const progress = { isWritten: false };
  const writing = sink.write(chainOf(400)).then(() => (progress.isWritten = true));
  let text = "";
  const chunk = Buffer.alloc(65_536);
  await eventually(() => expect(readSync(reader, chunk, 0, 1, null)).toBe(1));
  text += chunk.toString("latin1", 0, 1);
  expect(progress.isWritten, "more than a pipe holds").toBe(false);
  while (!progress.isWritten) {
    try {
      text += chunk.toString("latin1", 0, readSync(reader, chunk));
    } catch {
      await new Promise((resolve) => void setTimeout(resolve, 5));
    }
  }
  await writing;
  closeSync(writer);
  for (let count = 1; count > 0;) text += chunk.toString("latin1", 0, (count = readSync(reader, chunk)));
  closeSync(reader);
  expect(verified(Buffer.from(text, "latin1").toString())).toMatchObject({ ok: true, lines: 400 });
});

describe("an audit file", () => {
  test("is readable by its owner only, also when it existed", async () => {
    const file = path.join(folder, "audit.jsonl");
    writeFileSync(file, "", { mode: 0o644 });
    chmodSync(file, 0o644);
    const sink = createFileSink({ file, maxBytes: 1_000_000, clock: realAmbient.clock });
    await sink.write(chainOf(2));
    await sink.close?.();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(verified(readFileSync(file, "utf8"))).toMatchObject({ ok: true, lines: 2 });
  });

  test("is begun again when it is full, and when it was renamed", async () => {
    const file = path.join(folder, "audit.jsonl");
    const entries = chainOf(30);
    const sink = createFileSink({ file, maxBytes: 2_500, clock: realAmbient.clock });
    for (let index = 0; index < 20; index += 1) await sink.write(entries.slice(index, index + 1));
    renameSync(file, path.join(folder, "audit.jsonl.9"));
    await sink.write(entries.slice(20));
    await sink.close?.();
    const names = readdirSync(folder).sort();
    expect(names.length).toBeGreaterThan(3);
    for (const name of names) expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
    const rotated = names.slice(1).map((name) => readFileSync(path.join(folder, name), "utf8"));
    const whole = [...rotated, readFileSync(file, "utf8")].join("");
    expect(verified(whole)).toMatchObject({ ok: true, lines: 30 });
  });

  test("in a missing folder is reported with its setting", async () => {
    const sink = createFileSink({ file: path.join(folder, "no", "f"), maxBytes: 1e6, clock: realAmbient.clock });
    await expect(sink.write([])).rejects.toThrow(/AUDIT_FILE: .*cannot be opened: ENOENT/);
  });
});

describe("an OTLP collector", () => {
  const digits = z.string().regex(/^\d+$/);
  const value = z.union([z.strictObject({ stringValue: z.string() }), z.strictObject({ intValue: digits })]);
  const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
  /** opentelemetry/proto/collector/logs/v1 in its JSON mapping, without the fields that are not used. */
  const exportLogsServiceRequest = z.strictObject({
    resourceLogs: z.array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeLogs: z.array(
          z.strictObject({
            scope: z.strictObject({ name: z.string(), version: z.string() }),
            logRecords: z.array(
              z.strictObject({
                timeUnixNano: digits,
                observedTimeUnixNano: digits,
                severityNumber: z.int().min(1).max(24),
                severityText: z.string(),
                eventName: z.string(),
                body: z.strictObject({ stringValue: z.string() }),
                attributes,
              }),
            ),
          }),
        ),
      }),
    ),
  });

  async function collector(answer: (response: ServerResponse, count: number) => void) {
    const requests: { url: string | undefined; headers: IncomingMessage["headers"]; body: unknown }[] = [];
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        requests.push({ url: request.url, headers: request.headers, body });
        answer(response, requests.length);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const close = (): Promise<unknown> => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    };
    return { requests, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
  }

  test("gets log records that follow the OTLP schema, again after it failed, until it accepts them", async () => {
    const { requests, endpoint, close } = await collector((response, count) => {
      response.statusCode = count === 1 ? 503 : 200;
      response.end("{}");
    });
    const headers = { authorization: "Bearer secret" };
    const recording = createRecordingLogger();
    const sink = createOtlpSink({ endpoint, headers, version: "1.2.3", logger: NOOP_LOGGER });
    const queue = new AuditQueue({ sink, ambient: realAmbient, logger: recording.log });
    const entries = chainOf(3);
    for (const entry of entries) queue.push(entry);
    await queue.close(5_000);
    await close();
    expect(requests.length).toBeGreaterThan(1);
    expect(recording.messages("error")).toEqual(["write audit entries failed; retrying"]);
    const accepted = requests.slice(1).flatMap(({ body }) => exportLogsServiceRequest.parse(body).resourceLogs);
    const records = accepted.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
    expect(records.map(({ body }) => JSON.parse(body.stringValue) as unknown)).toEqual(entries);
    expect(records[0]?.timeUnixNano).toBe("1767225600000000000");
    expect(requests[0]).toMatchObject({ url: "/v1/logs", headers: { ...headers, "content-type": "application/json" } });
  });

  test("that rejects entries as invalid does not stop the ones after them", async () => {
    const { requests, endpoint, close } = await collector((response, count) => {
      response.statusCode = count === 1 ? 400 : 200;
      response.end(count === 2 ? '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}' : "{}");
    });
    const recording = createRecordingLogger();
    const sink = createOtlpSink({ endpoint: `${endpoint}/v1/logs`, headers: {}, version: "1", logger: recording.log });
    for (const entry of chainOf(3)) await sink.write([entry]);
    await close();
    expect(requests.map(({ url }) => url)).toEqual(["/v1/logs", "/v1/logs", "/v1/logs"]);
    expect(recording.messages("error")).toEqual([
      "collector rejected audit entries",
      "collector rejected audit entries",
    ]);
  });

  test("that does not respond is reported", async () => {
    const sink = createOtlpSink({ endpoint: "http://127.0.0.1:9", headers: {}, version: "1", logger: NOOP_LOGGER });
    await expect(sink.write(chainOf(1))).rejects.toMatchObject({ kind: "unavailable" });
  });
});
