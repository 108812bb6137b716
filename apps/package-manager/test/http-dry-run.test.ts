import { createRecordingLogger } from "@oaas/observability/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echoPackage, startPm, storeContents, type Answer, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;
const recording = createRecordingLogger();

beforeAll(async () => {
  pm = await startPm({ logger: recording.log });
  await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop", { version: "1" }) });
});
afterAll(() => pm.close());

/** A dry run, after which everything must be as it was: the store and the audit trail. */
async function tried(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const [before, lines] = [await storeContents(pm.store), audited().length];
  const answer = await pm.call("POST", path, { body, headers });
  expect(await storeContents(pm.store), "nothing is written").toEqual(before);
  expect(audited(), "nothing looks like a change").toHaveLength(lines);
  return answer;
}

function audited(): readonly object[] {
  return recording.records.filter(({ fields }) => fields["audit"] === true);
}

describe("dry runs of package writes", () => {
  test("previews a new package and registers nothing", async () => {
    const answer = await tried("/api/v1/packages?dry_run=true", echoPackage("fresh"));
    expect(answer).toMatchObject({
      status: 200,
      json: {
        id: "fresh",
        status: "created",
        dry_run: true,
        revision: 1,
        message: null,
        changes: [{ path: "$", change: "added", after: { name: "fresh", classes: [{ key: "Echo" }] } }],
      },
    });
    expect(answer.headers.get("etag")).toBeNull();
    expect((await pm.call("GET", "/api/v1/packages/fresh")).status).toBe(404);
  });

  test("previews an update with its revision, changes and current ETag", async () => {
    const next = echoPackage("shop", { version: "2" });
    const answer = await tried("/api/v1/packages/shop?dry_run=true", next);
    expect(answer).toMatchObject({
      status: 200,
      json: {
        status: "updated",
        revision: 2,
        changes: [{ path: "$.version", change: "changed", before: "1", after: "2" }],
      },
    });
    const etag = answer.headers.get("etag") as string;
    expect(etag).toBe((await pm.call("GET", "/api/v1/packages/shop")).headers.get("etag"));
    const write = await pm.call("POST", "/api/v1/packages/shop", { body: next, headers: { "if-match": etag } });
    expect(write).toMatchObject({ status: 200, json: { status: "updated" } });
    expect(write.json).not.toHaveProperty("dry_run");
    expect((await pm.call("GET", "/api/v1/packages/shop/diff")).json.changes).toEqual(answer.json.changes);
    const again = await tried("/api/v1/packages/shop?dry_run=true", next);
    expect(again.json).toMatchObject({ status: "unchanged", revision: 2, changes: [] });
  });

  test("counts the deployments and schedules none", async () => {
    const deployment = { key: "echo", class_key: "Echo" };
    const body = echoPackage("deployments", { deployments: [deployment] });
    const path = "/api/v1/packages?dry_run=true&apply_deployments=true";
    expect((await tried(path, body)).json.message).toBe("deployments that would be scheduled: 1");
    expect((await pm.call("GET", "/api/v1/deployments/echo")).status).toBe(404);
  });

  test.each([
    { why: "an existing name", path: "/packages", body: echoPackage("shop"), status: 409 },
    { why: "an unknown package", path: "/packages/none", body: echoPackage("none"), status: 404 },
    {
      why: "a name that differs from the path",
      path: "/packages/shop",
      body: echoPackage("b"),
      status: 400,
      at: "$.name",
    },
    {
      why: "another version",
      path: "/packages/shop",
      body: echoPackage("shop"),
      headers: { "if-match": '"999999"' },
      status: 412,
    },
    {
      why: "an unknown dependency",
      path: "/packages",
      body: echoPackage("needy", { dependencies: ["shop", "none"] }),
      status: 400,
      at: "$.dependencies[1]",
    },
    {
      why: "a binding to an unknown function",
      path: "/packages",
      body: echoPackage("loose", { functions: [] }),
      status: 400,
      at: "$.classes[0].function_bindings[0].function_key",
    },
    { why: "an invalid document", path: "/packages", body: { name: "bad name" }, status: 400, at: "$.name" },
  ])("is refused for what the write is refused for: $why", async ({ path, body, headers, status, at }) => {
    const [dry, real] = [
      await tried(`/api/v1${path}?dry_run=true`, body, headers),
      await pm.call("POST", `/api/v1${path}`, { body, ...(headers ? { headers } : {}) }),
    ];
    expect([dry.status, real.status]).toEqual([status, status]);
    const problemOf = ({ json }: Answer) => [json.code, json.error, json.violations];
    expect(problemOf(dry)).toEqual(problemOf(real));
    if (at !== undefined) expect(dry.json.violations).toMatchObject([{ path: at, fix: expect.any(String) }]);
  });

  test("does not use the idempotency key", async () => {
    const headers = { "idempotency-key": "once" };
    await tried("/api/v1/packages?dry_run=true", echoPackage("keyed"), headers);
    const write = await pm.call("POST", "/api/v1/packages", { body: echoPackage("keyed"), headers });
    expect(write.status).toBe(201);
    expect(write.headers.get("idempotency-replayed")).toBeNull();
  });

  test("accepts true and false; false writes", async () => {
    expect(await pm.call("POST", "/api/v1/packages?dry_run=maybe", { body: echoPackage("x") })).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.dry_run" }] },
    });
    expect((await pm.call("POST", "/api/v1/packages?dry_run=false", { body: echoPackage("x") })).status).toBe(201);
  });
});
