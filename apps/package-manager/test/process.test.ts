import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import path from "node:path";
import { describeWith, eventually, makeRunFolder, startEtcd, type EtcdUnderTest, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { pmCommand, runPm } from "./pm-process.ts";
import { sendRequest, echoPackage } from "./running-pm.ts";

let folder: RunFolder;
let occupied: Server;
beforeAll(async () => {
  folder = await makeRunFolder("pm-process");
  occupied = createServer();
  await new Promise<void>((resolve) => occupied.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  occupied.close();
  await folder.remove();
});

const occupiedPort = (): string => String((occupied.address() as AddressInfo).port);
const inFolder = (name: string): string => path.join(folder.path, name);
/** Limits the size of the files that a process can write; a longer file is an I/O error. */
const limitFiles = (pid: number, bytes: number | "unlimited"): void => {
  const { status, stderr } = spawnSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:`], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
};
const sha256 = (token: string): string => createHash("sha256").update(token).digest("hex");

describe("a failed start: one sentence and exit code 1", () => {
  test.concurrent.each([
    {
      why: "several invalid settings",
      env: { SERVER_HOST: "0.0.0.0", SERVER_WORKERS: "2" },
      expected: "SERVER_HOST: .* no credentials .* AUTH_MODE=off[^]*SERVER_WORKERS: .*STORAGE_TYPE=etcd",
    },
    {
      why: "a missing token file",
      env: { AUTH_TOKENS_FILE: "/no/such" },
      expected: "AUTH_TOKENS_FILE: /no/such cannot be read: ENOENT",
    },
    {
      why: "a port in use",
      env: { SERVER_PORT: occupiedPort },
      expected: "cannot listen on 127.0.0.1:\\d+: the address is in use",
    },
    {
      why: "a gRPC port in use",
      env: { GRPC_PORT: occupiedPort },
      expected: "cannot listen on 127.0.0.1:\\d+: the address is in use",
    },
    {
      why: "a file that is not a database",
      env: { STORAGE_TYPE: "sqlite", STORAGE_FILE: import.meta.filename },
      expected: "process.test.ts is not a database file",
    },
    {
      why: "an unreachable etcd",
      env: { STORAGE_TYPE: "etcd", ETCD_ENDPOINTS: "127.0.0.1:1", ETCD_TIMEOUT: "1s" },
      expected: "etcd is not available: .*127.0.0.1:1",
    },
    {
      why: "an unreachable etcd, with workers",
      env: { STORAGE_TYPE: "etcd", ETCD_ENDPOINTS: "127.0.0.1:1", ETCD_TIMEOUT: "1s", SERVER_WORKERS: "2" },
      expected: "etcd is not available: .*127.0.0.1:1[^]*first worker exited before it listened \\(exit code 1\\)",
    },
    {
      why: "a folder that cannot be created",
      env: { STORAGE_TYPE: "sqlite", STORAGE_FILE: "/proc/missing/deeper/pm.db" },
      expected: "/proc/missing/deeper/pm.db cannot be opened for writing \\(ENOENT\\)",
    },
  ])("$why", async ({ env, expected }) => {
    const read = Object.entries(env).map(([name, value]) => [name, typeof value === "function" ? value() : value]);
    const { exitCode, stdout, stderr } = await pmCommand(folder.path, [], Object.fromEntries(read));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(expected));
    expect(stderr, "no stack").not.toContain("    at ");
    expect(stdout).not.toContain("listening");
  });

  test("an invalid token file is reported with its lines", async () => {
    const file = inFolder("bad-tokens");
    await writeFile(file, `ci:deployer:${sha256("x")}\nci:king:${sha256("y")}\n`);
    const { exitCode, stderr } = await pmCommand(folder.path, [], { AUTH_TOKENS_FILE: file });
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/line 2: "king" is not a role/)]);
  });
});

describe("command line options", () => {
  test("--help lists every setting", async () => {
    const { exitCode, stdout } = await pmCommand(folder.path, ["--help"], { SERVER_PORT: "many" });
    expect(exitCode).toBe(0);
    for (const name of [
      "SERVER_HOST",
      "AUTH_TOKENS_FILE",
      "CRM_CLUSTERS_JSON",
      "ETCD_PASSWORD",
      "DEPLOY_MAX_RETRIES",
    ]) {
      expect(stdout).toContain(name);
    }
  });

  test("--print-config shows effective values and hides secrets", async () => {
    const { exitCode, stdout } = await pmCommand(folder.path, ["--print-config", "--deploy-max-retries=7"], {
      ETCD_USERNAME: "pm",
      ETCD_PASSWORD: "hunter2",
      CRM_CLUSTERS_JSON: JSON.stringify({ east: { url: "http://east:1", api_key: "s3cret" } }),
    });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/DEPLOY_MAX_RETRIES.*7/);
    expect(stdout).not.toMatch(/hunter2|s3cret/);
  });
});

describe("a running process", () => {
  test("without credentials it listens on loopback, with a warning in health", async () => {
    await using pm = await runPm({ folder: folder.path });
    const listening = (await pm.log()).find(({ message }) => message.endsWith("listening"));
    expect(listening).toMatchObject({ host: "127.0.0.1" });
    const { json } = await pm.call("GET", "/health");
    expect(json.warnings.join(" ")).toMatch(/in memory.*127\.0\.0\.1 is admin/);
    expect((await pm.call("GET", "/metrics")).text).toContain("process_cpu");
    expect(await pm.stop()).toBe(0);
  });

  test("a database file has one owner; its data survives a kill", async () => {
    const env = { STORAGE_TYPE: "sqlite", STORAGE_FILE: inFolder("owned.db") };
    await using pm = await runPm({ folder: folder.path, env });
    const create = { body: echoPackage("kept"), headers: { "idempotency-key": "k" } };
    expect((await pm.call("POST", "/api/v1/packages", create)).status).toBe(201);
    const second = await pmCommand(folder.path, [], env);
    expect([second.exitCode, second.stderr]).toEqual([
      1,
      expect.stringMatching(`in use by process ${pm.process.pid} on `),
    ]);
    await pm.process.stop(0);
    await using again = await runPm({ folder: folder.path, env });
    expect((await again.call("GET", "/api/v1/packages/kept")).status).toBe(200);
    const replayed = await again.call("POST", "/api/v1/packages", create);
    expect([replayed.status, replayed.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
  });

  test("SIGTERM drains requests within the grace period and exits with 0", async () => {
    const crm = await ScriptedCrm.start({ name: "slow" });
    crm.always({ do: "hang" }, "Deploy");
    await using pm = await runPm({
      folder: folder.path,
      env: {
        STORAGE_TYPE: "sqlite",
        STORAGE_FILE: inFolder("graceful.db"),
        CRM_CLUSTERS_JSON: JSON.stringify({ slow: { url: crm.url } }),
        SERVER_SHUTDOWN_GRACE: "1s",
        DEPLOY_WAIT: "60s",
      },
    });
    await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
    const events = await fetch(`${pm.url}/api/v1/events`);
    const deploying = pm
      .call("POST", "/api/v1/deployments", {
        body: { key: "held", package_name: "shop", class_key: "Echo", target_clusters: ["slow"] },
      })
      .then(
        ({ status }) => status,
        () => "disconnected",
      );
    await eventually(() => crm.callsOf("Deploy").length === 1, { what: "the deployment to start" });
    expect(await pm.stop(), "exit code").toBe(0);
    expect([200, 202, 503, "disconnected"]).toContain(await deploying);
    await events.body?.cancel().catch(() => undefined);
    await crm.close();
  });

  test("reloads a changed token file; an invalid one is not used", async () => {
    const file = inFolder("tokens");
    await writeFile(file, `ann:viewer:${sha256("first")}\n`);
    await using pm = await runPm({ folder: folder.path, env: { AUTH_TOKENS_FILE: file, SERVER_HOST: "127.0.0.1" } });
    const statusFor = async (token: string): Promise<number> =>
      (await pm.call("GET", "/api/v1/packages", { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusFor("first"), await statusFor("second")]).toEqual([200, 401]);
    await writeFile(file, `ann:viewer:${sha256("second")}\n`);
    await eventually(async () => (await statusFor("second")) === 200, { what: "the second token to be accepted" });
    expect(await statusFor("first")).toBe(401);
    await writeFile(file, "nonsense\n");
    await eventually(async () => {
      await statusFor("second");
      return (await pm.log()).some(({ level, message }) => level === "error" && message.includes("token file"));
    });
    expect(await statusFor("second")).toBe(200);
  });
});

describe("an I/O error of the SQLite file", () => {
  test("is reported by /readyz with its reason; the process recovers and loses nothing", async ({ skip }) => {
    if (spawnSync("prlimit", ["--version"]).status !== 0) skip("needs prlimit (util-linux)");
    const env = { STORAGE_TYPE: "sqlite", STORAGE_FILE: inFolder("io-error.db") };
    await using pm = await runPm({ folder: folder.path, env });
    const post = (name: string) =>
      pm.call("POST", "/api/v1/packages", {
        body: echoPackage(name, { metadata: { description: "x".repeat(60_000) } }),
      });
    for (const name of ["one", "two", "three"]) expect((await post(name)).status).toBe(201);
    // The write-ahead log is longer than this, the log of the process shorter.
    limitFiles(pm.process.pid, 200_000);
    const refused = await post("refused");
    expect(refused, refused.text).toMatchObject({ status: 503, json: { retryable: true } });
    expect(await pm.call("GET", "/readyz")).toMatchObject({
      status: 503,
      json: {
        ready: false,
        checks: { storage: { ok: false, message: expect.stringMatching(/io-error\.db .*disk I\/O error/) as string } },
      },
    });
    limitFiles(pm.process.pid, "unlimited");
    await eventually(async () => (await pm.call("GET", "/readyz")).status === 200, { timeoutMs: 60_000 });
    await eventually(async () => (await post("after")).status === 201, { timeoutMs: 60_000 });
    const names = async () =>
      (await pm.call("GET", "/api/v1/packages")).json.map((each: { name: string }) => each.name).toSorted();
    expect(await names()).toEqual(["after", "one", "three", "two"]);
    expect((await pm.log()).map(({ message }) => message)).toContain("sqlite: reopened database");
  });
});

describeWith(["etcd"], "two workers on one etcd", () => {
  let etcd: EtcdUnderTest;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.close());

  test("share packages and metrics; a killed worker is restarted; the stop is graceful", async () => {
    await using pm = await runPm({
      folder: folder.path,
      env: { STORAGE_TYPE: "etcd", ETCD_ENDPOINTS: etcd.endpoints.join(","), SERVER_WORKERS: "2" },
    });
    const lines = async (ending: string) => (await pm.log()).filter(({ message }) => message.endsWith(ending));
    await eventually(async () => (await lines("listening")).length === 2, { what: "both workers to listen" });
    expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shared") })).status).toBe(201);
    // One connection per request: the primary distributes connections round-robin.
    const read = () => sendRequest(pm.url, "GET", "/api/v1/packages/shared", { headers: { connection: "close" } });
    const answers = await Promise.all(Array.from({ length: 16 }, read));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const series = async () => {
      const scrape = await fetch(`${pm.url}/metrics`, { headers: { connection: "close" } });
      return [
        ...(await scrape.text()).matchAll(
          /^pm_http_requests_total\{operation="getPackage",.*worker="(\d+)"\} (\d+)$/gm,
        ),
      ];
    };
    let reads = answers.length;
    const areAllCounted = async () => {
      const counted = await series();
      if (new Set(counted.map(([, worker]) => worker)).size === 2)
        return counted.reduce((sum, [, , count]) => sum + Number(count), 0) === reads;
      await read();
      reads += 1;
      return false;
    };
    await eventually(areAllCounted, { what: "the metrics of both workers" });
    const [first] = await lines("started worker");
    process.kill(Number(first?.["pid"]), "SIGKILL");
    await eventually(async () => (await lines("listening")).length === 3, { what: "another worker to listen" });
    await eventually(async () => (await read()).status === 200);
    const isCounted = async () =>
      (await read()).status === 200 && (await series()).some(([, worker]) => worker === "3");
    await eventually(isCounted, { what: "the metrics of the new worker" });
    expect(await lines("worker exited; restarting")).toHaveLength(1);
    expect(await pm.stop()).toBe(0);
  });
});
