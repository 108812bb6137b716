import { readFileSync } from "node:fs";
import { parseWarnings } from "@oaas/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { echoPackage, startPm, storeContents, type PmUnderTest } from "./running-pm.ts";

let pm: PmUnderTest;

beforeAll(async () => {
  pm = await startPm();
  for (const name of ["shop", "base"]) await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
});
afterAll(() => pm.close());

const deployment = { key: "d", package_name: "shop", class_key: "Echo" };

/** Every write route with a body, and a body with one unknown field. */
const WRITES = [
  ["POST", "/packages", { ...echoPackage("typo"), clases: [] }, "$.clases"],
  ["POST", "/packages/shop", { ...echoPackage("shop"), clases: [] }, "$.clases"],
  ["POST", "/packages/shop/rollback", { revision: 1, reson: "x" }, "$.reson"],
  ["POST", "/deployments", { ...deployment, odgm: { partitions: 1 } }, "$.odgm.partitions"],
  ["PUT", "/deployments/d", { ...deployment, functions: [{ function_key: "echo", imag: 1 }] }, "$.functions[0].imag"],
  ["POST", "/deployments/d/rollback", { revision: 1, to: 1 }, "$.to"],
  ["POST", "/plans", { deployment: { ...deployment, targets: [] } }, "$.deployment.targets"],
  ["POST", "/clusters", { name: "c", url: "http://127.0.0.1:1", tls: { ca: "x" } }, "$.tls.ca"],
  ["POST", "/envs", { name: "c", url: "http://127.0.0.1:1", lables: {} }, "$.lables"],
] as const;

describe("unknown fields of a write", () => {
  test.each(WRITES)("%s %s rejects them and writes nothing", async (method, path, body, unknown) => {
    const before = await storeContents(pm.store);
    const answer = await pm.call(method, `/api/v1${path}`, { body });
    expect(answer).toMatchObject({
      status: 400,
      json: { violations: [{ path: unknown, message: "unknown field", fix: expect.any(String) as string }] },
    });
    expect(await storeContents(pm.store)).toEqual(before);
  });

  test.each(WRITES)("%s %s reports them as warnings on request", async (method, path, body, unknown) => {
    const answer = await pm.call(method, `/api/v1${path}?field_validation=warn`, { body });
    if (answer.status >= 400) expect(answer.text).not.toContain("unknown field");
    else expect(parseWarnings(answer.headers.get("warning") ?? "")).toEqual([expect.stringContaining(unknown)]);
  });

  test("are dropped on request", async () => {
    const body = { ...echoPackage("quiet"), clases: [] };
    const answer = await pm.call("POST", "/api/v1/packages?field_validation=ignore", { body });
    expect(answer).toMatchObject({ status: 201 });
    expect(answer.headers.get("warning")).toBeNull();
    expect((await pm.call("GET", "/api/v1/packages/quiet")).json).not.toHaveProperty("clases");
  });

  test("are found in YAML, together with every other violation", async () => {
    const raw = "name: shop\nversion: 1.0\nfunctions:\n  - key: f\n    provision_config: { prot: 80, port: 0 }\n";
    const answer = await pm.call("POST", "/api/v1/packages", { raw, headers: { "content-type": "application/yaml" } });
    expect(answer.status).toBe(400);
    expect(answer.json.violations).toMatchObject([
      { path: "$.functions[0].provision_config.prot", fix: "did you mean port?" },
      { path: "$.functions[0].provision_config.port" },
    ]);
  });

  test.each([
    [40_000, 101, "39900 more"],
    // More values than a request may have.
    [100_000, 1, "has more than 50000 values"],
  ])("%i of them get a bounded answer", async (count, listed, last) => {
    const many = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
    const answer = await pm.call("POST", "/api/v1/packages", { body: { ...echoPackage("many"), ...many } });
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(64 * 1024);
    expect(answer.json.violations).toHaveLength(listed);
    expect(answer.json.violations.at(-1).message).toContain(last);
  });

  test("40,000 warnings fit into a header, whatever their names", async () => {
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`ü\r\n"${index}`, 1]));
    const path = "/api/v1/packages?field_validation=warn&dry_run=true";
    const answer = await pm.call("POST", path, { body: { ...echoPackage("many"), ...many } });
    expect(answer.status).toBe(200);
    const warnings = parseWarnings(answer.headers.get("warning") ?? "");
    expect(warnings.at(-1)).toBe(`${40_000 - (warnings.length - 1)} more warnings are not listed`);
  });

  test("a repeated request gets its warnings again", async () => {
    const send = () =>
      pm.call("POST", "/api/v1/packages?field_validation=warn", {
        body: { ...echoPackage("keyed"), typo: 1 },
        headers: { "idempotency-key": "field-validation" },
      });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("warning")).toBe(first.headers.get("warning"));
  });

  test.each(["august-2025", "september-2025"])("packages of clients of %s are accepted", async (when) => {
    const file = new URL(`../../../packages/contracts/src/rest/testdata/${when}.package.json`, import.meta.url);
    const answer = await pm.call("POST", "/api/v1/packages?dry_run=true", {
      raw: readFileSync(file),
      headers: { "content-type": "application/json" },
    });
    expect(answer.text).not.toContain("unknown field");
    expect(answer.status).toBe(200);
  });

  test("a package that was read can be sent back", async () => {
    const { json } = await pm.call("GET", "/api/v1/packages/shop");
    expect(await pm.call("POST", "/api/v1/packages/shop", { body: json })).toMatchObject({ status: 200 });
  });
});

describe("unknown query parameters", () => {
  test("of a write are rejected: a misspelt dry run must not write", async () => {
    const before = await storeContents(pm.store);
    const answer = await pm.call("POST", "/api/v1/packages?dry_rum=true", { body: echoPackage("dry") });
    expect(answer).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.dry_rum", message: "unknown query parameter", fix: "did you mean dry_run?" }] },
    });
    expect((await pm.call("DELETE", "/api/v1/packages/shop?casade=true")).status).toBe(400);
    expect((await pm.call("POST", "/api/v1/deployments/d/cancel?x=1")).status).toBe(400);
    expect(await storeContents(pm.store)).toEqual(before);
  });

  test("of a read are ignored", async () => {
    expect((await pm.call("GET", "/api/v1/packages?unknown=1&field_validation=nonsense")).status).toBe(200);
  });

  test.each(["loose", "", "warn&field_validation=warn"])("field_validation=%s is rejected", async (mode) => {
    const answer = await pm.call("POST", `/api/v1/packages?field_validation=${mode}`, { body: echoPackage("x") });
    expect(answer).toMatchObject({ status: 400, json: { violations: [{ path: "$.field_validation" }] } });
  });
});
