import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { commandLine, describeWith, eventually, processesWith } from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");
const TASKS = path.resolve(import.meta.dirname, "..", "..", "..", "tools", "run.ts");
const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const FREE_PORTS = ["--server-port=0", "--oaas-stack-page-port=0"];
const folder = mkdtempSync(path.join(tmpdir(), "oaas-stack-"));
const running = new Set<ChildProcess>();

interface Stack {
  /** URL of the package manager. */
  readonly url: string;
  readonly page_url: string;
  readonly start: number;
  readonly clusters: readonly { readonly kubeconfig: string; readonly apiUrl: string }[];
  readonly child: ChildProcess;
  stop(): Promise<number | null>;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

const LISTENS = "0A";

/** The addresses that a process listens on; IPv6 addresses in the kernel's notation. */
function listeningOn(pid: number): string[] {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // Closed in the meantime.
      return "";
    }
  });
  const sockets = new Set(links);
  return ["tcp", "tcp6"].flatMap((kind) => {
    const rows = readFileSync(`/proc/${pid}/net/${kind}`, "utf8").trim().split("\n").slice(1);
    return rows.flatMap((row) => {
      const [, local = "", , state, , , , , , inode] = row.trim().split(/\s+/);
      if (state !== LISTENS || !sockets.has(`socket:[${inode}]`)) return [];
      const [address = ""] = local.split(":");
      return [address.length === 8 ? Buffer.from(address, "hex").toReversed().join(".") : address];
    });
  });
}

/** Runs the program until it exits, for starts that must fail. */
async function runToEnd(
  args: readonly string[],
  { file = MAIN, env = {} }: { file?: string; env?: Record<string, string> } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  running.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** Starts the program and waits for its ready line. */
async function start(
  dataDir: string,
  { command = process.execPath, program = [MAIN], flags = ["--no-cluster"] } = {},
): Promise<Stack> {
  const args = [...program, ...FREE_PORTS, `--oaas-stack-data-dir=${dataDir}`, "--output=json", ...flags];
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as { status: string } & Pick<Stack, "url" | "page_url" | "start" | "clusters">;
    if (line.status !== "ready") continue;
    // Keep reading, so that the process never blocks on a full pipe.
    child.stdout.resume();
    return {
      ...line,
      child,
      stop: async () => {
        child.kill("SIGTERM");
        const [code] = child.exitCode === null ? ((await once(child, "exit")) as [number | null]) : [child.exitCode];
        return code;
      },
    };
  }
  throw new Error("the stack ended before it was up");
}

/**
 * Ends every process of a test, also after a failure. `npm` and task runners do not forward SIGKILL, and a stack that
 * outlives them keeps the output of the test process open, so that Vitest waits for it.
 */
async function killStacks(): Promise<void> {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
  await eventually(
    () => {
      const left = processesWith(folder);
      for (const pid of left) kill(pid);
      return left.length === 0;
    },
    { what: "the processes of the test to end" },
  );
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}

afterEach(killStacks);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("npm start", () => {
  test("serves, shuts down gracefully on a signal, and keeps its data, also after a kill -9", async () => {
    const dataDir = path.join(folder, "again");
    const first = await start(dataDir);
    expect(first.start).toBe(1);
    expect(await (await fetch(`${first.page_url}/health`)).json()).toMatchObject({
      status: "healthy",
      storage: { status: "ok" },
      package_manager: { state: "running", url: first.url },
      clusters: [],
    });
    expect(await (await fetch(first.page_url)).text()).toContain("OaaS local stack");
    expect(await (await fetch(`${first.page_url}/metrics`)).text()).toContain("process_cpu");
    expect(await (await fetch(`${first.url}/health`)).json()).toMatchObject({ service: "oprc-pm", status: "healthy" });
    expect((await fetch(`${first.url}/docs`)).status).toBe(200);
    const sent = await fetch(`${first.url}/api/v1/packages`, {
      method: "POST",
      headers: { "content-type": "application/yaml" },
      body: readFileSync(path.join(ROOT, "examples", "packages", "counter.yaml")),
    });
    expect(sent.status).toBe(201);
    expect(await first.stop()).toBe(0);
    const second = await start(dataDir);
    expect(second.start).toBe(2);
    expect(await (await fetch(`${second.url}/api/v1/packages/counter`)).json()).toMatchObject({ name: "counter" });
    second.child.kill("SIGKILL");
    await once(second.child, "exit");
    const third = await start(dataDir);
    expect(third.start, "a start before a kill -9 is not lost").toBe(3);
    await third.stop();
  });

  test("listens on loopback only, keeps its files private, and shuts down gracefully on a signal to npm", async () => {
    const dataDir = path.join(folder, "by-npm");
    mkdirSync(dataDir, { mode: 0o755 });
    const stack = await start(dataDir, { ...BY_NPM, flags: ["--clusters=1"] });
    if (process.platform === "linux") {
      const addresses = listeningOn(await pidOf(stack));
      expect(addresses.length, "package manager, page, API server, manager, relay").toBeGreaterThanOrEqual(5);
      expect(new Set(addresses)).toEqual(new Set(["127.0.0.1"]));
    }
    const files = readdirSync(dataDir, { recursive: true, encoding: "utf8" });
    expect(files).toEqual(expect.arrayContaining(["store.sqlite-wal", "kubeconfig", "stack.json", "stack.log"]));
    const isShared = (file: string): boolean => (statSync(path.join(dataDir, file)).mode & 0o077) !== 0;
    expect([".", ...files].filter(isShared), "tokens and kubeconfigs are for the owner only").toEqual([]);
    stack.child.kill("SIGTERM");
    await eventually(() => expect(processesWith(dataDir)).toEqual([]));
    expect(existsSync(path.join(dataDir, "stack.json")), "graceful shutdown").toBe(false);
  });

  test("stops when the task that started it is killed", async () => {
    const dataDir = path.join(folder, "orphaned");
    const { child } = await start(dataDir, { program: [TASKS, "start"] });
    child.kill("SIGKILL");
    await eventually(() => processesWith(dataDir).length === 0, { what: "the stack to end" });
  });

  test.each([
    { why: "npm", program: () => ({ ...BY_NPM, flags: ["--no-cluster"] }) },
    { why: "a simulated cluster", program: () => ({ flags: ["--clusters=1"] }) },
  ])("leaves no process when a test ends without stopping it: $why", async ({ why, program }) => {
    const dataDir = path.join(folder, `left-${why.replaceAll(" ", "-")}`);
    const { url } = await start(dataDir, program());
    await killStacks();
    expect(processesWith(dataDir)).toEqual([]);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  test("returns problem documents with the correlation id", async () => {
    const stack = await start(path.join(folder, "problems"));
    for (const [name, method, url, status] of [
      ["an unknown path", "GET", "/nope", 404],
      ["a method that is not allowed", "POST", "/health", 405],
      ["path traversal", "GET", "/../../etc/passwd", 404],
    ] as const) {
      const response = await fetch(stack.page_url + url, { method, headers: { "x-correlation-id": "test-1" } });
      expect(response.status, name).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(response.headers.get("x-correlation-id")).toBe("test-1");
      expect(await response.json()).toMatchObject({
        status,
        error: expect.any(String) as string,
        correlationId: "test-1",
      });
    }
    await stack.stop();
  });
});

const BY_NPM = { command: "npm", program: ["--silent", "start", "--"] };

const pidOf = async (stack: Stack): Promise<number> => {
  const { process: figures } = JSON.parse((await healthOf(stack)).text) as { process: { pid: number } };
  return figures.pid;
};

const healthOf = async (stack: Stack) => {
  const response = await fetch(`${stack.page_url}/health`);
  return { code: response.status, text: await response.text() };
};

/** The classes in the API server of a cluster, as sorted `name=phase`. */
const classesIn = async (stack: Stack, cluster: number): Promise<string> => {
  const { items } = (await (
    await fetch(`${stack.clusters[cluster]?.apiUrl}/apis/oaas.io/v1alpha1/classruntimes`)
  ).json()) as { items: readonly { metadata: { name: string }; status?: { phase?: string } }[] };
  return items.map(({ metadata, status }) => `${metadata.name}=${status?.phase ?? ""} `).join("");
};

const available = (count: number) => Array.from({ length: count }, () => ({ phase: "available" }));
const runningIn = (...clusters: readonly string[]) => ({
  condition: "Running",
  clusters: clusters.map((name) => ({ name, condition: "Running" })),
});

/** The classes of the first cluster whose requests its Prometheus API has. */
async function measuredClasses({ clusters }: Stack): Promise<readonly unknown[]> {
  const { metricsUrl } = clusters[0] as unknown as { readonly metricsUrl: string };
  const query = encodeURIComponent("sum by (oaas_owner) (http_requests_total) > 0");
  const answer = await (await fetch(`${metricsUrl}/api/v1/query?query=${query}`)).json();
  return (answer as { data: { result: unknown[] } }).data.result;
}

/** The newest change by enforcement of a class. */
async function lastChangeOf(stack: Stack, prefix: string): Promise<string | undefined> {
  const { clusters } = JSON.parse((await healthOf(stack)).text) as {
    readonly clusters: readonly {
      readonly classes: readonly { readonly name: string; readonly lastChange?: string }[];
    }[];
  };
  return clusters.flatMap(({ classes }) => classes).find(({ name }) => name.startsWith(prefix))?.lastChange;
}

describe("npm start with its simulated clusters", () => {
  test("runs the examples in three clusters, and keeps all data after a kill -9", async () => {
    const dataDir = path.join(folder, "simulated");
    const first = await start(dataDir, { ...BY_NPM, flags: [] });
    // A busy machine is ready before its classes are available.
    await eventually(
      async () => {
        const health = await healthOf(first);
        expect(health.code, health.text).toBe(200);
        expect(JSON.parse(health.text)).toMatchObject({
          status: "healthy",
          package_manager: {
            state: "running",
            deployments: [
              { key: "hello", ...runningIn("edge") },
              { key: "ledger", ...runningIn("cloud", "edge", "far-edge") },
              { key: "shop-order", ...runningIn("cloud", "edge", "far-edge") },
              { key: "tickets", ...runningIn("cloud") },
            ],
          },
          clusters: [
            { name: "edge", state: "running", nodes: 2, classes: available(3) },
            { name: "cloud", state: "running", nodes: 3, classes: available(3) },
            { name: "far-edge", state: "running", nodes: 1, classes: available(2) },
          ],
        });
      },
      { timeoutMs: 120_000 },
    );
    expect(await classesIn(first, 0)).toMatch(
      /^hello-edge-\S+=available ledger-edge-\S+=available shop-order-edge-\S+=available $/,
    );
    expect(await classesIn(first, 1)).toMatch(
      /^ledger-cloud-\S+=available shop-order-cloud-\S+=available tickets-cloud-\S+=available $/,
    );
    await eventually(async () => expect(await measuredClasses(first)).toHaveLength(3));

    // Its load grows from the start.
    await eventually(
      async () => expect(await lastChangeOf(first, "tickets-")).toMatch(/^Sale\.buy replicas 1 to \d, \w+ lane, /),
      { timeoutMs: 180_000 },
    );

    const order = path.join(ROOT, "examples", "order-class", "class-runtime.yaml");
    const applied = await fetch(
      `${first.clusters[0]?.apiUrl}/apis/oaas.io/v1alpha1/namespaces/default/classruntimes/order?fieldManager=test`,
      { method: "PATCH", headers: { "content-type": "application/apply-patch+yaml" }, body: readFileSync(order) },
    );
    expect(applied.status, await applied.text()).toBe(201);
    const ended = once(first.child, "exit");
    process.kill(await pidOf(first), "SIGKILL");
    await ended;

    const second = await start(dataDir, { flags: [] });
    expect(second.start).toBe(2);
    expect(second.clusters.map(({ apiUrl }) => apiUrl)).toEqual(first.clusters.map(({ apiUrl }) => apiUrl));
    await eventually(
      async () =>
        expect(await classesIn(second, 0)).toMatch(
          /^hello-edge-\S+=available ledger-edge-\S+=available order=available shop-order-edge-\S+=available $/,
        ),
      { timeoutMs: 60_000 },
    );
    for (const key of ["hello", "ledger", "shop-order", "tickets"]) {
      expect(await (await fetch(`${second.url}/api/v1/deployments/${key}/revisions`)).json(), key).toHaveLength(1);
    }
    expect(await second.stop()).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
  }, 500_000);
});

describeWith(["kubernetes", "etcd", "kwok", "prometheus"], "npm start with real clusters", () => {
  test("runs the examples, leaves no process after a kill -9, keeps all data, and reports a lost process", async () => {
    const dataDir = path.join(folder, "real");
    const flags = ["--real", "--clusters=1"];
    const first = await start(dataDir, { flags });
    expect(JSON.parse((await healthOf(first)).text)).toMatchObject({
      status: "healthy",
      clusters: [{ name: "edge", state: "running", nodes: 2, classes: available(2) }],
    });
    await eventually(async () => expect(await measuredClasses(first)).toHaveLength(2));
    first.child.kill("SIGKILL");
    await eventually(() => processesWith(dataDir).length === 0, { what: "everything to end" });

    const second = await start(dataDir, { flags });
    expect(second.clusters.map(({ apiUrl }) => apiUrl)).toEqual(first.clusters.map(({ apiUrl }) => apiUrl));
    expect(await (await fetch(`${second.url}/api/v1/deployments/shop-order/revisions`)).json()).toHaveLength(1);
    const scheduler = processesWith(dataDir).find((pid) => commandLine(pid).includes("/kube-scheduler "));
    process.kill(scheduler!, "SIGKILL");
    await eventually(async () => {
      const { code, text } = await healthOf(second);
      expect(code).toBe(503);
      expect(text).toContain("kube-scheduler ended with SIGKILL");
    });
    const warden = processesWith("warden-main.ts").find((pid) => parentOf(pid) === second.child.pid);
    process.kill(warden!, "SIGKILL");
    await eventually(() => expect(processesWith(dataDir)).toEqual([second.child.pid]));
    expect(await second.stop()).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
  }, 300_000);
});

describe("a failed start", () => {
  test.each(["server-port", "oaas-stack-page-port"])("reports a %s in use with a fix", async (flag) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const dataDir = path.join(folder, `port-${flag}`);
    const { code, stderr } = await runToEnd([...FREE_PORTS, `--${flag}=${port}`, `--oaas-stack-data-dir=${dataDir}`]);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain("use free ports: npm start -- --ports=");
    if (process.platform === "linux") expect(stderr, "names the process").toContain(`process ${process.pid} (`);
    expect(processesWith(dataDir)).toEqual([]);
  });

  test("names the process that uses the data folder", async () => {
    const dataDir = path.join(folder, "busy");
    const stack = await start(dataDir);
    const { code, stderr } = await runToEnd([...FREE_PORTS, `--oaas-stack-data-dir=${dataDir}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(String(stack.child.pid));
    await stack.stop();
  });

  test("explains why a component is not available and suggests simulated clusters", async () => {
    // A broken Go on PATH hides a real one that the machine may have elsewhere.
    const bin = path.join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(path.join(bin, "go"), "#!/bin/sh\necho this Go is broken >&2\nexit 1\n", { mode: 0o755 });
    const { code, stderr, stdout } = await runToEnd(
      [...FREE_PORTS, "--real", `--oaas-stack-data-dir=${path.join(folder, "offline")}`],
      { env: { OAAS_CACHE_DIR: path.join(folder, "empty-cache"), PATH: bin } },
    );
    expect(code).toBe(1);
    expect(stdout).toContain("about ten minutes");
    expect(stderr).toMatch(/etcd .* is not available: [^]*this Go is broken[^]*Fix: /);
    expect(stderr).toContain("simulated clusters, which need only Node");
  });

  test.each(["api", "crm"])("reports a cluster port in use (%s) before anything starts", async (which) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const dataDir = path.join(folder, `taken-${which}`);
    const flags = [...FREE_PORTS, `--oaas-stack-${which}-port=${port}`, `--oaas-stack-data-dir=${dataDir}`];
    const { code, stderr } = await runToEnd(flags);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain(`--oaas-stack-${which}-port=0`);
    expect(processesWith(dataDir)).toEqual([]);
  });

  test.each([
    ["a misspelled flag", ["--server-prot=1"], "--server-port"],
    ["an invalid port", ["--server-port=99999"], "SERVER_PORT"],
    ["an invalid number of nodes", ["--oaas-stack-nodes=0"], "OAAS_STACK_NODES"],
    ["too many clusters", ["--clusters=4"], "from 1 to 3"],
    [
      "an address of another machine",
      [
        "--server-host=203.0.113.7",
        ...FREE_PORTS,
        "--no-cluster",
        `--oaas-stack-data-dir=${path.join(folder, "host")}`,
      ],
      "127.0.0.1",
    ],
  ])("reports %s: %j", async (_name, args, mentioned) => {
    const { code, stderr } = await runToEnd(args);
    expect(code).toBe(1);
    expect(stderr).toContain(mentioned);
    expect(stderr).not.toContain("    at ");
  });

  test("--help and --print-config start nothing", async () => {
    const help = await runToEnd(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("OAAS_STACK_DATA_DIR");
    const printed = await runToEnd(["--print-config", "--server-port=9"]);
    expect(printed.stdout).toMatch(/SERVER_PORT=9\s+# flag/);
  });
});

describe("the bundle", () => {
  const file = path.join(folder, "bundle", "dev-stack.mjs");
  beforeAll(async () => {
    const { code, stderr } = await runToEnd(["bundle", "--out", path.dirname(file)], { file: TASKS });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("runs without the repository", async () => {
    const stack = await start(path.join(folder, "bundled"), { program: [file], flags: ["--clusters=1"] });
    expect((await fetch(`${stack.page_url}/readyz`)).status).toBe(200);
    expect(stack.clusters).toHaveLength(1);
    expect(await stack.stop()).toBe(0);
  });

  test("rejects --real", async () => {
    const { code, stderr } = await runToEnd([...FREE_PORTS, "--real", `--oaas-stack-data-dir=${folder}/alone`], {
      file,
    });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("without --real") as string });
  });
});
