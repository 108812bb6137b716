import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { commandLine, componentFile, describeWith, eventually, processesWith, runCommand } from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");
const TASKS = path.resolve(import.meta.dirname, "..", "..", "..", "tools", "run.ts");
const folder = mkdtempSync(path.join(tmpdir(), "oaas-stack-"));
const running = new Set<ChildProcess>();

interface Stack {
  readonly url: string;
  readonly start: number;
  readonly clusters: readonly { readonly kubeconfig: string; readonly apiUrl: string }[];
  readonly child: ChildProcess;
  stop(): Promise<number | null>;
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Runs the program to its end, for starts that must fail. */
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

/** Starts the program and waits for the log line that says it is up. */
async function start(dataDir: string, { program = [MAIN], flags = ["--no-cluster"] } = {}): Promise<Stack> {
  const args = [...program, "--server-port=0", `--oaas-stack-data-dir=${dataDir}`, "--log-format=json", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as { message: string } & Pick<Stack, "url" | "start" | "clusters">;
    if (line.message !== "the local stack is up") continue;
    // Goes on reading, so that the process never waits for us.
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

afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("npm start", () => {
  test("serves, stops in order on a signal, and finds its data again", async () => {
    const dataDir = path.join(folder, "again");
    const first = await start(dataDir);
    expect(first.start).toBe(1);
    const health = (await (await fetch(`${first.url}/health`)).json()) as object;
    expect(health).toMatchObject({ status: "healthy", storage: { status: "ok" } });
    expect(await (await fetch(first.url)).text()).toContain("OaaS local stack");
    expect(await (await fetch(`${first.url}/metrics`)).text()).toContain("process_cpu");
    expect(await (await fetch(`${first.url}/openapi.json`)).json()).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./) as string,
    });
    expect(await first.stop()).toBe(0);
    const second = await start(dataDir);
    expect(second.start).toBe(2);
    await second.stop();
  });

  test("the start before a kill -9 is not lost", async () => {
    const dataDir = path.join(folder, "killed");
    const { child } = await start(dataDir);
    child.kill("SIGKILL");
    await once(child, "exit");
    const second = await start(dataDir);
    expect(second.start).toBe(2);
    await second.stop();
  });

  test("it ends when the task that started it is killed", async () => {
    const dataDir = path.join(folder, "orphaned");
    const { child } = await start(dataDir, { program: [TASKS, "start"] });
    child.kill("SIGKILL");
    await eventually(() => processesWith(dataDir).length === 0, { what: "the stack to end" });
  });

  test.each([
    ["an unknown path", "GET", "/nope", 404],
    ["a method that would change something", "POST", "/health", 405],
    ["a path that steps up", "GET", "/../../etc/passwd", 404],
  ])("%s gets a problem with its correlation id", async (_name, method, url, status) => {
    const stack = await start(path.join(folder, `problem-${status}-${method}`));
    const response = await fetch(stack.url + url, { method, headers: { "x-correlation-id": "test-1" } });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-correlation-id")).toBe("test-1");
    expect(await response.json()).toMatchObject({
      status,
      error: expect.any(String) as string,
      correlationId: "test-1",
    });
    await stack.stop();
  });
});

describeWith(["kubernetes", "etcd", "kwok"], "npm start with its cluster", () => {
  const kubectl = async (stack: Stack, args: string[], stdin = ""): Promise<string> => {
    const env = { KUBECONFIG: stack.clusters[0]?.kubeconfig ?? "", HOME: folder };
    const result = await runCommand(componentFile("kubectl"), args, { env, stdin });
    if (result.exitCode !== 0) throw new Error(result.stderr);
    return result.stdout;
  };
  const phases = (stack: Stack): Promise<string> =>
    kubectl(stack, ["get", "classruntimes", "-o", "jsonpath={range .items[*]}{.metadata.name}={.status.phase} {end}"]);
  const healthOf = async (stack: Stack) => {
    const response = await fetch(`${stack.url}/health`);
    return { code: response.status, text: await response.text() };
  };

  test("a class becomes available; kill -9 leaves no process; the next start finds all; a loss is told; the stop is whole", async () => {
    const dataDir = path.join(folder, "cluster");
    const first = await start(dataDir, { flags: ["--oaas-stack-nodes=2"] });
    await eventually(async () => expect(await phases(first)).toBe("order=available "), { timeoutMs: 60_000 });
    const health = await healthOf(first);
    expect(health.code).toBe(200);
    expect(JSON.parse(health.text)).toMatchObject({
      status: "healthy",
      clusters: [{ state: "running", classes: [{ name: "order", phase: "available" }] }],
    });
    const example = JSON.parse(await kubectl(first, ["get", "crt", "order", "-o", "json"])) as { spec: object };
    const own = {
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "mine" },
      spec: example.spec,
    };
    await kubectl(first, ["apply", "-f", "-"], JSON.stringify(own));
    await kubectl(first, ["annotate", "crt", "order", "changed=by-me"]);
    await eventually(async () => expect(await phases(first)).toBe("mine=available order=available "), {
      timeoutMs: 60_000,
    });

    first.child.kill("SIGKILL");
    await eventually(() => processesWith(dataDir).length === 0, { what: "everything to end" });

    const second = await start(dataDir, { flags: [] });
    expect(second.start).toBe(2);
    expect(second.clusters[0]?.apiUrl).toBe(first.clusters[0]?.apiUrl);
    expect(await phases(second)).toBe("mine=available order=available ");
    expect(await kubectl(second, ["get", "crt", "order", "-o", "jsonpath={.metadata.annotations.changed}"])).toBe(
      "by-me",
    );

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
  }, 240_000);
});

describe("a start that cannot be", () => {
  test("a port in use: which, and what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const { code, stderr } = await runToEnd([
      `--server-port=${port}`,
      `--oaas-stack-data-dir=${path.join(folder, "port")}`,
    ]);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain("choose another port");
  });

  test("a data folder in use: by which process", async () => {
    const dataDir = path.join(folder, "busy");
    const stack = await start(dataDir);
    const { code, stderr } = await runToEnd(["--server-port=0", `--oaas-stack-data-dir=${dataDir}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(String(stack.child.pid));
    await stack.stop();
  });

  test("what a cluster needs cannot be had: why, and how to go on without", async () => {
    const { code, stderr, stdout } = await runToEnd(
      ["--server-port=0", "--log-format=json", `--oaas-stack-data-dir=${path.join(folder, "offline")}`],
      { env: { OAAS_CACHE_DIR: path.join(folder, "empty-cache"), PATH: "/nowhere" } },
    );
    expect(code).toBe(1);
    expect(stdout).toContain("about ten minutes");
    expect(stderr).toMatch(/etcd .* could not be had: Go is not installed\nRemedy: .*Go 1\.26/);
    expect(stderr).toContain("npm start -- --no-cluster");
  });

  test.each(["api", "crm"])("a taken port for the cluster (%s) is known before anything starts", async (which) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const dataDir = path.join(folder, `taken-${which}`);
    const flags = ["--server-port=0", `--oaas-stack-${which}-port=${port}`, `--oaas-stack-data-dir=${dataDir}`];
    const { code, stderr } = await runToEnd(flags);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain(`--oaas-stack-${which}-port=0`);
    expect(processesWith(dataDir)).toEqual([]);
  });

  test.each([
    ["a misspelt flag", ["--server-prot=1"], "--server-port"],
    ["a port that is none", ["--server-port=99999"], "SERVER_PORT"],
    ["a number of nodes that is none", ["--oaas-stack-nodes=0"], "OAAS_STACK_NODES"],
    [
      "an address that is not ours",
      [
        "--server-host=203.0.113.7",
        "--server-port=0",
        "--no-cluster",
        `--oaas-stack-data-dir=${path.join(folder, "host")}`,
      ],
      "127.0.0.1",
    ],
  ])("%s: %j", async (_name, args, mentioned) => {
    const { code, stderr } = await runToEnd(args);
    expect(code).toBe(1);
    expect(stderr).toContain(mentioned);
    expect(stderr).not.toContain("    at ");
  });

  test("help and effective values start nothing", async () => {
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

  test("is one file that runs by itself", async () => {
    const stack = await start(path.join(folder, "bundled"), { program: [file] });
    expect((await fetch(`${stack.url}/readyz`)).status).toBe(200);
    expect(await stack.stop()).toBe(0);
  });

  test("says that it brings no cluster by itself", async () => {
    const { code, stderr } = await runToEnd(["--server-port=0", `--oaas-stack-data-dir=${folder}/alone`], { file });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("--no-cluster") as string });
  });
});
