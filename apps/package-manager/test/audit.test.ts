import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { verifyAuditLines, type AuditEntry } from "@oaas/contracts/rest";
import { sha256Hex } from "@oaas/foundation/hash";
import { freePorts, makeRunFolder, startProcess, untilReady, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_WAITING } from "../src/access/audit-queue.ts";
import { echoPackage, sendRequest, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
const TOKENS = ["viewer", "deployer", "admin"].map((role) => `${role}:${role}:${hash(role)}`).join("\n");

function as(pm: PmUnderTest, role: string, method: string, target: string, body?: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${role}`, "x-correlation-id": `of-${role}` };
  return pm.call(method, target, { headers, ...(body === undefined ? {} : { body }) });
}

describe("GET /api/v1/audit", () => {
  let pm: PmUnderTest;
  const lines: AuditEntry[] = [];
  beforeAll(async () => {
    pm = await startPm({
      tokens: TOKENS,
      env: { SERVER_HOST: "127.0.0.1" },
      audit: { write: async (entries) => void lines.push(...entries) },
    });
    await as(pm, "deployer", "POST", "/api/v1/packages", echoPackage("shop"));
    await as(pm, "deployer", "POST", "/api/v1/packages", { name: "Not A Name" });
    await as(pm, "viewer", "DELETE", "/api/v1/packages/shop");
    await pm.call("DELETE", "/api/v1/packages/shop");
    await as(pm, "deployer", "POST", "/api/v1/packages/shop?dry_run=true", echoPackage("shop", { version: "2" }));
    await as(pm, "admin", "DELETE", "/api/v1/packages/shop");
  });
  afterAll(() => pm.close());

  test("lists attempts with actor, target and outcome, newest first; refused ones too", async () => {
    const { json, headers, status } = await as(pm, "admin", "GET", "/api/v1/audit");
    expect(status).toBe(200);
    expect(headers.get("x-total-count")).toBe("4");
    const address = expect.stringMatching(/127\.0\.0\.1/) as string;
    const actor = (name: string) => ({ subject: name, name, issuer: null, role: name, address });
    expect(json).toMatchObject([
      { actor: actor("admin"), action: "deletePackage", target: "/api/v1/packages/shop", outcome: "succeeded" },
      { actor: actor("viewer"), outcome: "refused", status: 403, reason: expect.stringContaining("role deployer") },
      { actor: actor("deployer"), outcome: "refused", status: 400, correlation_id: "of-deployer" },
      { action: "createPackage", target: "/api/v1/packages/shop", outcome: "succeeded", status: 201 },
    ]);
  });

  test("filters and pages", async () => {
    const page = await as(pm, "admin", "GET", "/api/v1/audit?action=deletePackage&limit=1");
    expect(page.json).toMatchObject([{ actor: { subject: "admin" } }]);
    const token = page.headers.get("x-next-page-token") ?? "";
    const next = await as(pm, "admin", "GET", `/api/v1/audit?action=deletePackage&limit=1&page_token=${token}`);
    expect(next.json).toMatchObject([{ actor: { subject: "viewer" } }]);
    expect((await as(pm, "admin", "GET", "/api/v1/audit?actor=deployer")).json).toHaveLength(2);
    expect((await as(pm, "admin", "GET", "/api/v1/audit?since=2999-01-01T00:00:00Z")).json).toEqual([]);
    expect((await as(pm, "admin", "GET", "/api/v1/audit?since=yesterday")).status).toBe(400);
  });

  test("is for admins only", async () => {
    for (const role of ["viewer", "deployer"]) expect((await as(pm, role, "GET", "/api/v1/audit")).status).toBe(403);
  });

  test("the sink gets a verifiable chain of starts and ends, also of attempts without credentials", () => {
    const texts = lines.map((entry) => JSON.stringify(entry));
    expect(verifyAuditLines(texts, sha256Hex)).toMatchObject({ ok: true, lines: 7 });
    expect(lines.map(({ outcome, status }) => status ?? outcome)).toEqual([
      "started",
      201,
      400,
      403,
      401,
      "started",
      204,
    ]);
  });
});

test("refuses changes with 503 while the sink stalls; reads are served, and /health warns", async () => {
  await using pm = await startPm({
    audit: { write: () => new Promise(() => undefined) },
    env: { SERVER_SHUTDOWN_GRACE: "0" },
  });
  const send = (index: number): Promise<Answer> =>
    pm.call("POST", "/api/v1/packages", {
      raw: "{",
      headers: { "content-type": "application/json", "x-n": `${index}` },
    });
  for (let sent = 0; sent < MAX_WAITING; sent += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => send(sent + index)));
  const refused = await pm.call("POST", "/api/v1/packages", { body: echoPackage("late") });
  expect(refused).toMatchObject({ status: 503, json: { error: expect.stringContaining("audit sink") } });
  expect((await pm.call("GET", "/api/v1/packages")).json).toEqual([]);
  expect((await pm.call("GET", "/health")).json.warnings).toContainEqual(
    expect.stringContaining("the audit sink does not accept entries"),
  );
});

describe("a process", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("pm-audit");
  });
  afterAll(() => folder.remove());

  async function run(port: number, work: (url: string) => Promise<void>): Promise<void> {
    const env = { SERVER_PORT: String(port), LOG_LEVEL: "error", STORAGE_TYPE: "sqlite" };
    const running = await startProcess({
      name: "pm",
      command: process.execPath,
      args: [path.resolve(import.meta.dirname, "..", "src", "main.ts")],
      cwd: folder.path,
      logFile: path.join(folder.path, `pm-${port}.log`),
      env,
    });
    const url = `http://127.0.0.1:${port}`;
    try {
      await untilReady(running, async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true);
      await work(url);
    } finally {
      await running.stop(10_000);
    }
  }

  test("writes audit lines with LOG_LEVEL=error, and keeps them over a restart", async () => {
    const [port = 0, again = 0] = await freePorts(2);
    await run(port, async (url) => {
      expect((await sendRequest(url, "POST", "/api/v1/packages", { body: echoPackage("shop") })).status).toBe(201);
    });
    const text = await readFile(path.join(folder.path, `pm-${port}.log`), "utf8");
    expect(verifyAuditLines(text.split("\n"), sha256Hex)).toMatchObject({ ok: true, lines: 2 });
    await run(again, async (url) => {
      const { json } = await sendRequest(url, "GET", "/api/v1/audit");
      expect(json).toMatchObject([{ action: "createPackage", outcome: "succeeded" }]);
    });
  });
});
