import { createHash } from "node:crypto";
import { PackageService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { createRecordingLogger } from "@oaas/observability/testing";
import { RpcChannel } from "@oaas/rpc";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
/** Part of every secret value below. */
const SECRET = "hunter2";
const CALLERS = ["vic", "ann", "root"] as const;
type Caller = (typeof CALLERS)[number];

const recording = createRecordingLogger();
let crm: ScriptedCrm;
let pm: PmUnderTest;

const secretPackage = (version: string): object =>
  echoPackage("shop", {
    version,
    functions: [
      {
        key: "echo",
        provision_config: { container_image: "ghcr.io/oaas/echo:1" },
        config: {
          REGION: "eu",
          DB_PASSWORD: `${SECRET}-${version}`,
          PGPASSWORD: `${SECRET}-${version}`,
          CONNECTION_STRING: `Server=db;Pwd=${SECRET}`,
          DATABASE_URL: `postgres://shop:${SECRET}@db/shop`,
        },
      },
    ],
  });
const deployment = (token: string): object => ({
  key: "shop-echo",
  package_name: "shop",
  class_key: "Echo",
  target_clusters: ["east"],
  functions: [{ function_key: "echo", config: { API_TOKEN: `${SECRET}-${token}`, COLOUR: "red" } }],
});

function as(caller: Caller, method: string, path: string, body?: unknown, headers: object = {}): Promise<Answer> {
  const sent = body === undefined ? {} : { body };
  return pm.call(method, path, { ...sent, headers: { authorization: `Bearer ${caller}`, ...headers } });
}

beforeAll(async () => {
  crm = await ScriptedCrm.start({ name: "east" });
  pm = await startPm({
    clusters: { east: crm.url },
    tokens: `vic:viewer:${hash("vic")}\nann:deployer:${hash("ann")}\nroot:admin:${hash("root")}`,
    env: { GRPC_PORT: "0", SERVER_HOST: "127.0.0.1", DEPLOY_WAIT: "5s" },
    logger: recording.log,
  });
  expect((await as("ann", "POST", "/api/v1/packages", secretPackage("1"))).status).toBe(201);
  expect((await as("ann", "POST", "/api/v1/packages/shop", secretPackage("2"))).status).toBe(200);
  for (const token of ["1", "2"])
    expect((await as("ann", "POST", "/api/v1/deployments", deployment(token))).status).toBe(200);
});
afterAll(async () => {
  await pm.close();
  await crm.close();
});

describe("secrets in settings", () => {
  test.each(["packages/shop", "packages", "functions", "deployments/shop-echo", "deployments"])(
    "GET /api/v1/%s masks them for viewers; deployers and admins read them",
    async (path) => {
      const masked = await as("vic", "GET", `/api/v1/${path}`);
      expect(masked.status).toBe(200);
      expect(masked.text).not.toContain(SECRET);
      expect(masked.text).toContain('"***"');
      expect(masked.text).toMatch(/"REGION":"eu"|"COLOUR":"red"/);
      for (const caller of ["ann", "root"] as const)
        expect((await as(caller, "GET", `/api/v1/${path}`)).text).toContain(SECRET);
    },
  );

  test.each([
    "packages/shop/revisions/1",
    "packages/shop/diff?from=1&to=2",
    "deployments/shop-echo/revisions",
    "deployments/shop-echo/revisions/1",
    "deployments/shop-echo/diff?from=1&to=2",
  ])("GET /api/v1/%s masks them for every caller", async (path) => {
    for (const caller of CALLERS) {
      const read = await as(caller, "GET", `/api/v1/${path}`);
      expect(read.status).toBe(200);
      expect(read.text).not.toContain(SECRET);
      expect(read.text, "a changed secret is still shown as changed").toContain("***");
    }
  });

  test("a preview masks them in its changes", async () => {
    const preview = await as("ann", "POST", "/api/v1/packages/shop?dry_run=true", secretPackage("3"));
    expect(preview.json.changes).toContainEqual(
      expect.objectContaining({ path: "$.functions.echo.config.DB_PASSWORD", before: "***", after: "***" }),
    );
    expect(preview.text).not.toContain(SECRET);
  });

  test("plans mask them, also in the changes since an outdated plan", async () => {
    const planned = await as("vic", "POST", "/api/v1/plans", { deployment: deployment("3") });
    expect(planned.status).toBe(200);
    expect(planned.text).not.toContain(SECRET);
    const body = { ...deployment("4"), plan_digest: planned.json.digest };
    const outdated = await as("ann", "POST", "/api/v1/deployments", body);
    expect(outdated.status).toBe(409);
    expect(outdated.json.error).toContain("API_TOKEN");
    expect(outdated.text).not.toContain(SECRET);
  });

  test.each(CALLERS)("events mask them for %s", async (caller) => {
    const stop = new AbortController();
    const response = await fetch(`${pm.url}/api/v1/events?topic=package`, {
      headers: { authorization: `Bearer ${caller}` },
      signal: stop.signal,
    });
    const name = `events-${caller}`;
    await as("ann", "POST", "/api/v1/packages", { ...secretPackage("1"), name });
    let text = "";
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.includes(`"name":"${name}"`) && text.endsWith("\n\n")) break;
    }
    stop.abort();
    expect(text).toContain("***");
    expect(text).not.toContain(SECRET);
  });

  test("gRPC masks them for viewers; deployers read them", async () => {
    for (const caller of ["vic", "ann"] as const) {
      const channel = new RpcChannel({
        name: "pm",
        address: `127.0.0.1:${pm.app.grpcPort}`,
        clock: realAmbient.clock,
        token: () => caller,
      });
      const client = channel.client(PackageService);
      const one = await client.getPackage({ name: "shop" });
      const listed = await client.listPackages({ filter: "shop", limit: 10 });
      channel.close();
      for (const definition of [one.package, listed.packages[0]]) {
        const config = definition?.functions[0]?.config ?? {};
        expect(config["REGION"]).toBe("eu");
        expect(config["DB_PASSWORD"]).toBe(caller === "vic" ? "***" : `${SECRET}-2`);
      }
    }
  });

  test("a masked document is not accepted, and the response names the settings", async () => {
    const read = await as("vic", "GET", "/api/v1/packages/shop");
    const back = await as("ann", "POST", "/api/v1/packages/shop", read.json);
    expect(back.status).toBe(400);
    expect(back.json.error).toMatch(/\$\.functions\[0\]\.config\.DB_PASSWORD: is masked/);
    expect((await as("ann", "POST", "/api/v1/packages", { ...read.json, name: "copy" })).status).toBe(400);
    const running = (await as("vic", "GET", "/api/v1/deployments/shop-echo")).json;
    const put = await as("ann", "PUT", "/api/v1/deployments/shop-echo", running);
    expect(put.status).toBe(400);
    expect(put.json.error).toMatch(/\$\.functions\[0\]\.config\.API_TOKEN: is masked/);
    expect((await as("ann", "GET", "/api/v1/packages/shop")).text).toContain(`${SECRET}-2`);
  });

  test("a masked document has its own ETag, which is the same version in conditions of writes", async () => {
    const path = "/api/v1/packages/shop";
    const [masked, whole] = await Promise.all([as("vic", "GET", path), as("ann", "GET", path)]);
    const [tag, wholeTag] = [masked, whole].map(({ headers }) => headers.get("etag") as string);
    expect(tag).not.toBe(wholeTag);
    const known = (caller: Caller, etag = ""): Promise<Answer> =>
      as(caller, "GET", path, undefined, { "if-none-match": etag });
    expect((await known("vic", tag)).status).toBe(304);
    expect((await known("ann", tag)).status, "the caller got more rights").toBe(200);
    expect((await known("vic", wholeTag)).status, "the caller lost rights").toBe(200);
    const write = await as("ann", "POST", path, secretPackage("2"), { "if-match": tag });
    expect(write.json).toMatchObject({ status: "unchanged" });
  });

  test("rolls back to a revision with its secrets", async () => {
    const rolled = await as("ann", "POST", "/api/v1/packages/shop/rollback", { revision: 1 });
    expect(rolled.status).toBe(200);
    expect((await as("ann", "GET", "/api/v1/packages/shop")).text).toContain(`${SECRET}-1`);
  });

  test("logs do not contain them", () => {
    expect(JSON.stringify(recording.records)).not.toContain(SECRET);
  });
});
