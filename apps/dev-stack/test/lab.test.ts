import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith, sweepSize } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oaas, startOaas } from "./stack-process.ts";

/** The commands of the local stack and its lab: `oaas up`, `status`, `lab`, `down`, `reset`, each as a process. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-lab-"));
const dataDir = path.join(folder, "data");
const on = ["--data", dataDir];
/** A second stack, for the scenario that mostly waits until its load has left the measurements. */
const onSpiked = ["--data", path.join(folder, "spiked")];

const SPIKE = "load-spike";
const SCENARIOS = [
  "cluster-down",
  "cluster-lost",
  "crm-killed",
  "partition",
  "pm-killed",
  "image-broken",
  "node-lost",
  SPIKE,
];

interface Health {
  readonly status: string;
  readonly process: { readonly pid: number; readonly rss_bytes: number };
  readonly broken: readonly unknown[];
  readonly package_manager: { readonly url: string };
  readonly clusters: readonly { readonly apiUrl: string; readonly classes: readonly { readonly name: string }[] }[];
}

/** What the tests read of a response of the package manager. */
interface LabAnswer {
  readonly clusters: readonly string[];
  readonly error: string;
  readonly violations?: readonly { readonly path: string }[];
}

const readHealth = async (where: readonly string[] = on): Promise<Health> => {
  const { stdout } = await oaas(["status", ...where, "-o", "json"]);
  return JSON.parse(stdout) as Health;
};
/** Waits, because a busy machine responds slowly. */
const waitUntilHealthy = (where: readonly string[] = on): Promise<Health> =>
  eventually(async () => {
    const health = await readHealth(where);
    expect(health.status).toBe("healthy");
    return health;
  });
const classesIn = ({ clusters }: Health): string[] =>
  clusters.flatMap(({ classes }) => classes.map(({ name }) => name));

interface ScenarioResult {
  readonly scenario: string;
  readonly ok: boolean;
  readonly checks: readonly { readonly what: string; readonly ok: boolean }[];
}

/** Runs scenarios and returns their results; nothing of them may be left. */
async function runScenarios(names: readonly string[], where: readonly string[]): Promise<readonly ScenarioResult[]> {
  const before = await waitUntilHealthy(where);
  const { exitCode, stdout, stderr } = await oaas(["lab", "run", ...names, ...where, "-o", "json"], {
    timeoutMs: 550_000,
  });
  expect({ exitCode, stderr }, stdout).toEqual({ exitCode: 0, stderr: "" });
  const after = await eventually(async () => {
    const health = await readHealth(where);
    expect(classesIn(health)).toEqual(classesIn(before));
    return health;
  });
  expect(after.broken).toEqual([]);
  const packages = await fetch(`${after.package_manager.url}/api/v1/packages?name_pattern=lab`);
  expect(await packages.json()).toEqual([]);
  return JSON.parse(stdout) as ScenarioResult[];
}

beforeAll(async () => {
  const started = [on, onSpiked].map((where) => oaas(["up", "--detach", "--ports", "0", ...where, "-o", "json"]));
  for (const { exitCode, stdout, stderr } of await Promise.all(started)) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({ status: "healthy", package_manager: { state: "running" } });
  }
});
afterAll(async () => {
  await Promise.all([oaas(["down", ...on]), oaas(["down", ...onSpiked])]);
  for (const pid of processesWith(folder)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

describe("oaas lab", () => {
  test("lists the scenarios", async () => {
    const { exitCode, stdout } = await oaas(["lab", "-o", "name"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: SCENARIOS.map((name) => `scenario/${name}\n`).join(""),
    });
  });

  test("the API of the package manager injects and removes faults for the console", async () => {
    const { package_manager: pm } = await waitUntilHealthy();
    const send = async (method: string, at: string, body?: object, headers: Record<string, string> = {}) => {
      const response = await fetch(`${pm.url}/api/v1/${at}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      });
      return { status: response.status, json: (await response.json()) as LabAnswer };
    };
    expect((await send("GET", "session")).json).toMatchObject({ authentication: "off", lab: true });
    const { json: lab } = await send("GET", "lab");
    expect(lab).toMatchObject({
      injected: [],
      faults: expect.arrayContaining([expect.objectContaining({ fault: "load-spike" })]),
    });
    const [cluster] = lab.clusters;
    const fault = { fault: "load-spike", cluster };
    expect(await send("POST", "lab/faults", fault)).toMatchObject({ status: 200, json: { injected: [fault] } });
    expect(await send("POST", "lab/faults", fault), "repeated").toMatchObject({
      status: 200,
      json: { injected: [fault] },
    });
    expect((await readHealth()).broken).toEqual([fault]);
    const second = await send("POST", "lab/faults", { fault: "partition", cluster });
    expect([second.status, second.json.error]).toEqual([400, expect.stringContaining("already has the fault")]);
    const foreign = await send("POST", "lab/restore", {}, { origin: "https://evil.example" });
    expect([foreign.status, (await readHealth()).broken]).toEqual([403, [fault]]);
    for (const [body, field] of [
      [{ fault: "earthquake", cluster }, "$.fault"],
      [{ fault: "partition", cluster: "nowhere" }, "$.cluster"],
      [{ fault: "pm-killed", cluster }, "$.fault"],
      [{ fault: "partition" }, "$.cluster"],
    ] as const) {
      const rejected = await send("POST", "lab/faults", body);
      expect([body, rejected.status, rejected.json.violations?.[0]?.path]).toEqual([body, 400, field]);
    }
    const half = await send("POST", "lab/restore", { cluster });
    expect([half.status, half.json.violations?.[0]?.path]).toEqual([400, "$.fault"]);
    expect(await send("POST", "lab/restore", fault)).toMatchObject({ status: 200, json: { injected: [] } });
    await send("POST", "lab/faults", fault);
    expect(await send("POST", "lab/restore", {})).toMatchObject({ status: 200, json: { injected: [] } });
    expect((await readHealth()).broken).toEqual([]);
  });

  test("all scenarios pass and leave nothing behind", async () => {
    const others = SCENARIOS.filter((name) => name !== SPIKE);
    // In the sweep all of them follow each other in one stack.
    const results =
      sweepSize(0, 1) === 1
        ? await runScenarios(["all"], on)
        : (await Promise.all([runScenarios(others, on), runScenarios([SPIKE], onSpiked)])).flat();
    expect(results.map(({ scenario, ok }) => [scenario, ok])).toEqual(SCENARIOS.map((name) => [name, true]));
    for (const { scenario, checks } of results) expect(checks.length, scenario).toBeGreaterThanOrEqual(4);
    // Enforcement scaled the class, not an autoscaler.
    expect(results.at(-1)?.checks.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        "latency requirement is violated in edge",
        "enforcement adds replicas in its emergency lane in edge",
        "requests do not wait in edge",
        "enforcement removes replicas in edge",
      ]),
    );
  }, 600_000);

  test("a failed check exits with 1, is named, and all faults are removed", async () => {
    // The package of the scenario with a missing image: its class never runs.
    const { url } = (await waitUntilHealthy()).package_manager;
    const registered = await fetch(`${url}/api/v1/packages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        name: "lab-probe",
        classes: [
          {
            key: "Probe",
            function_bindings: [{ name: "ping", function_key: "Probe.ping", access_modifier: "PUBLIC" }],
          },
        ],
        functions: [{ key: "Probe.ping", provision_config: { container_image: "example.test/lab-probe:missing" } }],
      }),
    });
    expect(registered.status).toBe(201);
    const { exitCode, stdout } = await oaas(["lab", "run", "partition", "--timeout", "1ms", ...on]);
    expect(exitCode, stdout).toBe(1);
    expect(stdout).toMatch(/✗ class runs in every cluster .*\n +found: .*edge is /);
    expect(stdout).toContain("failed: partition");
    const after = await readHealth();
    expect({ broken: after.broken, left: classesIn(after).filter((name) => name.startsWith("lab-")) }).toEqual({
      broken: [],
      left: [],
    });
  });

  test.each([
    ["an unknown scenario", ["lab", "run", "earthquake", ...on], 2, "cluster-down"],
    ["no scenario", ["lab", "run", ...on], 2, "no scenario given"],
    ["an unknown cluster", ["lab", "run", "partition", "--cluster", "moon", ...on], 2, "edge, cloud, far-edge"],
    ["no running stack", ["lab", "run", "partition", "--data", path.join(folder, "none")], 1, "oaas up"],
    ["no running stack for all", ["lab", "run", "all", "--data", path.join(folder, "none")], 1, "oaas up"],
  ])("reports %s", async (_why, args, code, mentioned) => {
    const { exitCode, stderr } = await oaas(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: code, stderr: expect.stringContaining(mentioned) as string });
  });

  test("injecting a fault needs the secret in the state file", async () => {
    const { stdout } = await oaas(["status", ...on, "-o", "json"]);
    expect(stdout).not.toContain("secret");
    const { pageUrl } = JSON.parse(readFileSync(path.join(dataDir, "stack.json"), "utf8")) as { pageUrl: string };
    for (const headers of [{}, { authorization: "Bearer guess" }]) {
      const answer = await fetch(`${pageUrl}/control/break`, {
        method: "POST",
        headers,
        body: '{"fault":"pm-killed"}',
      });
      expect(answer.status).toBe(401);
    }
    expect((await fetch(`${pageUrl}/control/break`)).status).toBe(405);
    expect((await readHealth()).broken).toEqual([]);
  });
});

describe("oaas up, status, down and reset", () => {
  test.each([
    { after: "most scenarios", where: on },
    { after: "a load spike", where: onSpiked },
  ])("uses less than 550 MB after $after", async ({ where }) => {
    const { rss_bytes: bytes } = (await readHealth(where)).process;
    expect(bytes / 2 ** 20).toBeLessThan(550);
  });

  test("a second start on the same folder names the running process", async () => {
    const { pid } = (await readHealth()).process;
    const { exitCode, stderr } = await oaas(["up", "--detach", "--ports", "0", ...on]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`process ${pid}`) as string });
    expect(stderr).toContain("oaas down");
    expect((await readHealth()).process.pid, "the first stack keeps running").toBe(pid);
  });

  test("prints the logs of all components", async () => {
    const { stdout } = await oaas(["status", "--logs", "200", ...on]);
    expect(stdout).toMatch(/^package-manager .*audit/m);
  });

  test("follows the logs until Ctrl-C", async () => {
    const { child, output } = startOaas(["status", "--follow", ...on]);
    try {
      // The newest lines of any component: a busy one can fill them.
      await eventually(() => expect(output.text).toMatch(/^(package-manager|cloud|edge|far-edge) +\d/m));
      const { url } = (await readHealth()).package_manager;
      await fetch(`${url}/api/v1/packages/followed`, { method: "DELETE" });
      await eventually(() => expect(output.text).toMatch(/^package-manager .*packages\/followed/m));
      child.kill("SIGINT");
      expect(((await once(child, "exit")) as [number])[0]).toBe(130);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test.each(["-1", "1.5"])("rejects --logs %s", async (count) => {
    const { exitCode, stderr } = await oaas(["status", `--logs=${count}`, ...on]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("oaas status --logs 20") });
  });

  test("reset deletes nothing without confirmation", async () => {
    const { exitCode, stderr } = await oaas(["reset", ...on]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("--yes") as string });
    await waitUntilHealthy();
  });

  test("down keeps the data, also after a kill -9; reset deletes only the stack's files", async () => {
    const first = await waitUntilHealthy();
    expect((await oaas(["down", ...on])).exitCode).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
    expect(existsSync(path.join(dataDir, "stack.json"))).toBe(false);
    expect(await oaas(["status", ...on])).toMatchObject({ exitCode: 3, stdout: expect.stringContaining("oaas up") });
    expect((await oaas(["down", ...on])).exitCode, "down is idempotent").toBe(0);

    expect((await oaas(["up", "-d", "--ports", "0", ...on])).exitCode).toBe(0);
    const second = await waitUntilHealthy();
    expect(classesIn(second)).toEqual(classesIn(first));
    process.kill(second.process.pid, "SIGKILL");
    await eventually(() => expect(processesWith(dataDir)).toEqual([]));
    expect(await oaas(["status", ...on])).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining("was killed; its data is intact"),
    });

    writeFileSync(path.join(dataDir, "mine.txt"), "keep me");
    expect((await oaas(["reset", "--yes", ...on])).exitCode).toBe(0);
    expect(readdirSync(dataDir)).toEqual(["mine.txt"]);
    expect(await oaas(["reset", "--yes", ...on])).toMatchObject({ exitCode: 0 });
  });

  test("reset rejects a folder without stack data", async () => {
    const strange = path.join(folder, "strange");
    mkdirSync(path.join(strange, "clusters"), { recursive: true });
    const { exitCode, stderr } = await oaas(["reset", "--yes", "--data", strange]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining("not a data folder of a local stack") as string,
    });
    expect(readdirSync(strange)).toEqual(["clusters"]);
  });
});
