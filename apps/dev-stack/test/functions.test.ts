import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oaas, startOaas, startStack, stopStack, type StackProcess } from "./stack-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-functions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command that must succeed, and returns its output. */
async function run(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await oaas(args);
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

describe("functions in simulated clusters", () => {
  let stack: StackProcess;
  beforeAll(async () => {
    stack = await startStack(path.join(folder, "simulated"), ["--clusters=1"]);
    process.env["OAAS_PM_URL"] = stack.url;
  });
  afterAll(async () => {
    delete process.env["OAAS_PM_URL"];
    await stopStack(stack, "SIGKILL");
  });

  test("oaas invoke answers with an echo of the request and the place that received it", async () => {
    expect(JSON.parse(await run("invoke", "hello", "greet", "--data", "Ann", "--path", "/x?y=1"))).toMatchObject({
      method: "POST",
      path: "/x?y=1",
      body: "Ann",
      cluster: "edge",
      class: "hello.Greeter",
      function: "Greeter.greet",
      replica: "1 of 1",
    });
    expect(JSON.parse(await run("invoke", "deployment/hello", "--method", "GET", "-o", "json"))).toMatchObject({
      cluster: "edge",
      status: 200,
    });
  });

  test("invocations move the measured load", async () => {
    const before = await requestsPerSecond();
    const send = async (): Promise<number> => {
      const response = await fetch(`${stack.url}/api/v1/deployments/hello/functions/Greeter.greet/invocations`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      return response.status;
    };
    const statuses = await Promise.all(Array.from({ length: 50 }, send));
    expect(new Set(statuses)).toEqual(new Set([200]));
    await eventually(async () => expect(await requestsPerSecond()).toBeGreaterThan(before + 5));
  });

  async function requestsPerSecond(): Promise<number> {
    const { clusters } = (await (await fetch(`${stack.page_url}/health`)).json()) as {
      clusters: readonly { loads?: readonly { function: string; requests_per_second: number }[] }[];
    };
    const loads = clusters.flatMap(({ loads: own = [] }) => own);
    return loads.find((each) => each.function === "Greeter.greet")?.requests_per_second ?? 0;
  }

  test("oaas logs shows and follows the output", async () => {
    await run("invoke", "hello", "--path", "/seen");
    expect(await run("logs", "deployment/hello")).toContain("simulated container started: image");
    expect(await run("logs", "hello", "--function", "greet", "--tail", "1")).toBe("POST /seen 200\n");
    expect(await run("logs", "hello.Greeter", "--tail", "1", "--timestamps")).toMatch(
      /^\d{4}-\S+Z {2}POST \/seen 200\n/,
    );
    const [line = ""] = (await run("logs", "hello", "--tail", "1", "-o", "json")).split("\n");
    expect(JSON.parse(line)).toMatchObject({ cluster: "edge", function_key: "Greeter.greet", text: "POST /seen 200" });
    const { child, output } = startOaas(["logs", "-f", "hello", "--tail", "0"]);
    try {
      await eventually(async () => {
        await run("invoke", "hello", "--path", "/followed");
        expect(output.text).toMatch(/^edge\/hello-edge-\S+ {2}POST \/followed 200\n/);
      });
    } finally {
      child.kill("SIGINT");
    }
  });

  test("errors name the fix", async () => {
    const unknown = await oaas(["invoke", "hello", "none"]);
    expect(unknown).toMatchObject({ exitCode: 2 });
    expect(unknown.stderr).toContain("use one of Greeter.greet");
    expect(await oaas(["logs", "nothing"])).toMatchObject({ exitCode: 3 });
    const outside = await oaas(["invoke", "hello", "--path", "/../secrets"]);
    expect(outside.exitCode).toBe(1);
    expect(outside.stderr).toContain("$.path");
  });
});

const GREETER = path.join("examples", "greeter-service", "main.mjs");

describe("functions as local programs", () => {
  let stack: StackProcess;
  beforeAll(async () => {
    stack = await startStack(path.join(folder, "local"), ["--clusters=2", "--functions=local"]);
    process.env["OAAS_PM_URL"] = stack.url;
  });
  afterAll(async () => {
    delete process.env["OAAS_PM_URL"];
    await stopStack(stack, "SIGKILL");
  });

  /** The programs that the stack started. */
  function programs(): readonly number[] {
    return processesWith(GREETER).filter((pid) => parentOf(pid) === stack.child.pid);
  }

  test("run behind the proxy, with their output as log and their port as readiness", async () => {
    await run("apply", "-f", "examples/greeter-service/greeter.yaml", "--wait");
    expect(programs()).toHaveLength(3);
    expect(await run("invoke", "greeter", "greet", "--data", "OaaS")).toBe("Hello, OaaS!\n");
    expect(await run("invoke", "greeter", "sum", "--data", "[1, 2, 39]")).toBe("42\n");
    const failed = await oaas(["invoke", "greeter", "sum", "--data", "x"]);
    expect(failed).toMatchObject({ exitCode: 1 });
    expect(await run("logs", "greeter", "--function", "greet")).toMatch(
      /greet, shout, sum on port \d+\n.*POST \/ 200\n$/,
    );
    // Other images stay simulated.
    expect(JSON.parse(await run("invoke", "hello"))).toMatchObject({ simulated: true });
  });

  test("restart when they crash, and end when they are scaled down or deleted", async () => {
    const before = new Set(programs());
    const [first] = before;
    process.kill(first ?? 0, "SIGKILL");
    await eventually(() => {
      const now = programs();
      expect(now).toHaveLength(3);
      expect(now).not.toContain(first);
    });
    await eventually(async () => expect(await run("invoke", "greeter", "greet")).toBe("Hello, world!\n"));
    await run("delete", "-f", "examples/greeter-service/greeter.yaml", "--yes");
    await eventually(() => expect(programs()).toEqual([]));
  });

  test("end with a stack that is killed", async () => {
    await run("apply", "-f", "examples/greeter-service/greeter.yaml", "--wait");
    const started = programs();
    expect(started).toHaveLength(3);
    await stopStack(stack, "SIGKILL");
    await eventually(() => expect(processesWith(GREETER).filter((pid) => started.includes(pid))).toEqual([]));
  });
});

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    // It ended in the meantime.
    return 0;
  }
}
