import { execFileSync, execSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, startProcess, untilReady, type ProcessUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInTerminal, missingTerminalReason, type TerminalOptions } from "./pseudo-terminal.ts";
import type { TopRow } from "../src/commands/observe/top.ts";
import { screenText, replaceVarying } from "./screen-text.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const EXAMPLES = path.join(ROOT, "examples");
const why = missingTerminalReason();

// In CI a missing terminal fails the suite instead of skipping it.
if (why !== undefined && process.env["CI"] !== "true") process.stderr.write(`SKIPPED "screens": ${why}\n`);

describe.skipIf(why !== undefined && process.env["CI"] !== "true")("terminal screens", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-screens-"));
  const bundle = path.join(folder, "cli.mjs");
  let stack: ProcessUnderTest;
  let url: string;

  beforeAll(async () => {
    expect(why).toBeUndefined();
    // Test the bundle that ships.
    const tasks = path.join(ROOT, "tools", "run.ts");
    execFileSync(process.execPath, [tasks, "bundle", "--out", folder, "--only", "cli"], { stdio: "ignore" });
    const logFile = path.join(folder, "stack.log");
    mkdirSync(path.join(folder, "stack"));
    stack = await startProcess({
      name: "local stack",
      command: process.execPath,
      args: [
        path.join(ROOT, "apps", "dev-stack", "src", "main.ts"),
        "--server-port=0",
        "--oaas-stack-page-port=0",
        "--output=json",
      ],
      cwd: path.join(folder, "stack"),
      logFile,
    });
    const ready = (): string | undefined =>
      readFileSync(logFile, "utf8")
        .split("\n")
        .find((line) => line.includes('"status":"ready"'));
    await untilReady(stack, async () => ready() !== undefined, 120_000);
    ({ url } = JSON.parse(ready() ?? "{}") as { url: string });
  });
  afterAll(async () => {
    await stack?.stop(30_000);
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (line: string, options: Partial<TerminalOptions> = {}) =>
    runInTerminal([process.execPath, bundle, ...line.split(" ")], {
      cwd: folder,
      ...options,
      env: { HOME: folder, OAAS_PM_URL: url, ...options.env },
    });
  /** Runs a command and compares the screen with the recorded one (`vitest -u` updates it). */
  const shows = async (
    name: string,
    line: string,
    { without, ...options }: Partial<TerminalOptions> & { without?: RegExp } = {},
  ) => {
    const { raw, code } = await run(line, options);
    const whole = replaceVarying(screenText(raw), { examples: EXAMPLES, here: folder });
    const seen = without === undefined ? whole : whole.replaceAll(without, "");
    await expect(
      `$ oaas ${replaceVarying(line, { examples: EXAMPLES, here: folder })}\n${seen}[${code}]\n`,
    ).toMatchFileSnapshot(`screens/${name}.txt`);
    return raw;
  };
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return name;
  };

  it("help", async () => {
    await shows("help", "--help");
    await shows("help-of-a-command", "deployment rollback --help");
  });

  it("errors with location and hint", async () => {
    await shows("error-unreachable", "package list", { env: { OAAS_PM_URL: "http://127.0.0.1:1" } });
    await shows("error-command", "pakage list");
    await shows("error-yaml", `apply -f ${file("bad.yaml", "name: x\nclasses: [\n  - key: A\n")}`);
    const typo = readFileSync(path.join(EXAMPLES, "hello", "hello.yaml"), "utf8").replace("class_key", "clas_key");
    await shows("error-documents", `apply -f ${file("typo.yaml", typo.replace("access_modifier", "acces_modifier"))}`);
  });

  it("apply, plan, watch, explain and delete a class", async () => {
    const hello = path.join(EXAMPLES, "hello", "hello.yaml");
    // The stack deploys it on start.
    await run(`delete -f ${hello} --yes`);
    await run("wait hello --for=delete");
    await shows("apply", `apply -f ${hello} --wait`);
    await shows("plan", `plan -f ${hello}`);
    await shows(
      "plan-cluster-down",
      `plan -f ${path.join(EXAMPLES, "multi-cluster", "ledger.yaml")} --cluster-down edge`,
    );
    await shows("watch", "deployment watch hello --until-settled");
    await shows("watch-narrow", "deployment watch hello --until-settled", { columns: 30 });
    // Measurements may or may not have arrived yet.
    await shows("status", "deployment status hello", { without: /\n(?:CLUSTER +COMPONENT|-o wide)[\s\S]*$/g });
    await shows("apply-again", `apply -f ${hello}`);
    await shows("logs", "logs hello.Greeter --history");
    await shows("logs-output", "logs deployment/hello");
    await shows("wait", "wait deployment/hello");
    const waited = await run("wait deployment/hello -o json");
    expect(JSON.parse(waited.raw), "JSON output is the state only").toMatchObject({
      key: "hello",
      condition: "Running",
    });
    const listed = await run("runtime list --cluster edge -o wide");
    expect(screenText(listed.raw)).toMatch(/hello-edge-\S+ +hello\.Greeter +edge .*Running/);
    const wide = screenText((await run("deployment list --package hello -o wide")).raw);
    expect(wide).toMatch(
      /NAMESPACE +REPLICAS +PLANNED AVAILABILITY\n.*hello +hello\.Greeter +.*Running.* +edge +\d+\w +default +1 +99 %/,
    );
    expect(screenText((await run("deployment get hello -o yaml")).raw)).toContain("class_key: Greeter\n");
    expect(screenText((await run("deployment history hello")).raw)).toMatch(/1 +\d+\w +.*Running.* +edge/);
    expect(
      screenText((await run("logs hello --history --tail 1")).raw)
        .trim()
        .split("\n"),
    ).toHaveLength(2);
    await shows("explain", "explain hello");
    await shows("explain-field", "explain deployment.rollout");
    const question = "Delete deployment hello from all clusters? [y/N] ";
    await shows("delete-no", "deployment delete hello", { input: [{ after: question, text: "n\n" }] });
    await shows("delete-yes", "deployment delete hello", { input: [{ after: question, text: "y\n" }] });
    await run("wait hello --for=delete");
    await run("package delete hello --yes");
  });

  it("events of a class are the events of its deployments", async () => {
    const hello = readFileSync(path.join(EXAMPLES, "hello", "hello.yaml"), "utf8").replaceAll("hello", "watched");
    await run(`apply -f ${file("watched.yaml", hello)} --wait`);
    const followed = run("events watched.Greeter --count 1 -o name");
    const end = { isSeen: false };
    void followed.then(() => (end.isSeen = true));
    let tag = 0;
    // Events before the subscription are not delivered, so repeat the change until one arrives.
    const happened = async (): Promise<boolean> => {
      const next = hello.replace("greeter:1.0.0", `greeter:1.0.${(tag += 1)}`);
      await run(`apply -f ${file("watched.yaml", next)}`);
      const deployment = next.slice(next.indexOf("---")).trimEnd();
      await run(
        `apply -f ${file("deployment.yaml", `${deployment}\ntemplate_hint: ${tag % 2 === 0 ? "dev" : "edge"}\n`)}`,
      );
      return end.isSeen;
    };
    await eventually(happened, { timeoutMs: 120_000, what: "events of the class" });
    expect(screenText((await followed).raw).trim()).toMatch(/\/watched/);
    await run("deployment delete watched --yes");
    await run("wait watched --for=delete");
    await run("package delete watched --yes");
  });

  it("explain a class that cannot start, down to the pod", async () => {
    const broken = readFileSync(path.join(EXAMPLES, "hello", "hello.yaml"), "utf8")
      .replaceAll("hello", "broken")
      .replace("greeter:1.0.0", "greeter:missing");
    const ended = await shows("wait-failed", `apply -f ${file("broken.yaml", broken)} --wait --timeout 10m`, {
      // The state in which the verdict arrives differs.
      without: /‹bold›broken‹[^]*?(?=‹red›error:)/g,
    });
    expect(ended, "reason and image in full").toContain(
      "Function Greeter.greet: the registry has no image example.test/greeter:missing. Waiting will not help: ",
    );
    expect((await run("wait broken")).code, "a permanent verdict ends the wait").toBe(1);
    // The events depend on how long it has been failing.
    const raw = await shows("explain-broken", "explain broken", {
      without: /^ *event .*\n/gm,
      env: { OAAS_STACK_DATA_DIR: path.join(folder, "stack", ".oaas", "data") },
    });
    const kubectl = /^ +(kubectl --kubeconfig .*)$/m.exec(screenText(raw))?.[1] ?? "no command";
    expect(execSync(kubectl, { encoding: "utf8" }), kubectl).toMatch(/^Name: +broken-edge-[^]*ErrImagePull/);

    const interrupted = await run("wait broken --keep-waiting", { input: [{ after: "CLUSTER", text: "\u0003" }] });
    expect(interrupted.code).toBe(130);
    expect(screenText(interrupted.raw)).toMatch(
      /Stopped waiting\. The deployment of broken goes on.*\n +follow: oaas deployment watch broken\n/,
    );

    const shown = Promise.withResolvers<void>();
    const waiting = run("wait broken --for=condition=Running --timeout 2m --keep-waiting", {
      onOutput: (picture) => void (picture.includes("CLUSTER") && shown.resolve()),
    });
    await shown.promise;
    await run(`apply -f ${file("broken.yaml", broken.replace("greeter:missing", "greeter:1.0.0"))}`);
    const waited = await waiting;
    expect(waited.code, waited.raw).toBe(0);
    expect(waited.raw, "the table was redrawn in place").toContain("A\u001B[J");
    await run("delete -f broken.yaml --yes");
  });

  it("explains requirements and recommendations", async () => {
    const runtime = {
      metadata: { name: "hello" },
      status: {
        conditions: [
          { type: "NfrObserved", status: "True", reason: "MetricsObserved", message: "The requirements are measured." },
        ],
        nfr_compliance: {
          measurements: [
            { requirement: "max_latency_ms", component: "greet", status: "violated", required: 100, observed: 151 },
            { requirement: "min_throughput_rps", component: "greet", status: "met", required: 200, observed: 300 },
          ],
        },
        nfr_recommendations: [
          {
            component: "greet",
            dimension: "replicas",
            target: 4,
            current: 2,
            confidence: 0.9,
            evidence: {
              window: "10m",
              query: "requests_per_second",
              values: { requests_per_second: 300, rps_per_replica: 97, sustained_rps: 97, demand_replicas: 3.71 },
            },
          },
        ],
        enforcement_state: [{ component: "greet", dimension: "replicas", last_skip: "stability" }],
      },
    };
    await shows("nfr-explain", `nfr explain --file ${file("runtime.json", JSON.stringify(runtime))}`, { columns: 120 });
  });

  it("recommendations of the simulated clusters with their numbers", async () => {
    const rows = await eventually(
      async () => {
        const all = JSON.parse((await run("top --class Account --cluster cloud -o json")).raw) as readonly TopRow[];
        const measured = all.filter(({ recommendations }) => recommendations.length > 0);
        if (measured.length === 0) throw new Error("no recommendations yet");
        return measured;
      },
      { timeoutMs: 90_000, what: "the first recommendations" },
    );
    for (const { recommendations } of rows) {
      for (const {
        target,
        lower_bound = Number.NaN,
        upper_bound = Number.NaN,
        evidence,
        valid_until,
      } of recommendations) {
        expect(lower_bound).toBeLessThanOrEqual(target);
        expect(upper_bound).toBeGreaterThanOrEqual(target);
        expect(evidence?.query).not.toBe("");
        expect(Object.keys(evidence?.values ?? {})).not.toEqual([]);
        expect(Date.parse(valid_until ?? "")).toBeGreaterThan(0);
      }
    }
    const status = screenText((await run("deployment status ledger -o wide")).raw);
    expect(status).toMatch(/DIMENSION +CURRENT +RECOMMENDED +BOUNDS +CONFIDENCE +VALID +BASIS\n/);
  });

  it("topology with and without colours", async () => {
    // The health of a class whose replicas change is not always the same.
    await run(`delete -f ${path.join(EXAMPLES, "enforcement", "tickets.yaml")} --yes`);
    // Deleted deployments may still be terminating.
    await eventually(async () => expect((await run("topology")).raw).not.toMatch(/hello|watched|broken|tickets/));
    await shows("topology", "topology");
    await shows("topology-plain", "topology", { env: { NO_COLOR: "1" } });
  });

  it("watch and events run until Ctrl-C", async () => {
    const watched = await run("deployment watch shop-order", { input: [{ after: "far-edge", text: "\u0003" }] });
    expect(watched.code).toBe(130);
    const followed = run("events --topic package", {
      input: [{ after: "package/interrupted", text: "\u0003" }],
    });
    const packageText = "name: interrupted\nversion: 1.0.0\nclasses: []\nfunctions: []\n";
    const applied = file("interrupted.yaml", packageText);
    // Events before the subscription are not delivered, so repeat the change until one arrives.
    const end = { isSeen: false };
    void followed.then(() => (end.isSeen = true));
    const happened = async (): Promise<boolean> => {
      await run(`apply -f ${applied}`);
      await run("package delete interrupted --yes");
      return end.isSeen;
    };
    await eventually(happened, { timeoutMs: 120_000, what: "events" });
    expect((await followed).code).toBe(130);
  });

  it("a typed secret is not echoed", async () => {
    const { raw, code } = await run("login --name mine http://127.0.0.1:9", {
      input: [{ after: "Token (empty for none): ", text: "s3cret\n" }],
    });
    expect(code).toBe(0);
    expect(raw).not.toContain("s3cret");
    expect(readFileSync(path.join(folder, ".oaas", "config.yaml"), "utf8")).toContain("s3cret");
  });
});
