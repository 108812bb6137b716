import { virtualAmbient, VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import type { StackState } from "../components.ts";
import { decodeKeys } from "./keys.ts";
import { createLineDisplay } from "./line-display.ts";
import { createScreenDisplay } from "./screen-display.ts";
import { startLines, truncateLine, upLines, type UpView } from "./view.ts";

const edge: ClusterState = {
  name: "edge",
  labels: { env: "edge", zone: "a" },
  nodes: 2,
  availability: 0.99,
  context: "oaas-edge",
  metricsUrl: undefined,
  loads: [],
  broken: undefined,
  state: "running",
  detail: undefined,
  apiUrl: "http://127.0.0.1:1",
  kubeconfig: "/data/clusters/edge/kubeconfig",
  managerUrl: "http://127.0.0.1:2",
  classes: [{ namespace: "default", name: "order-edge", phase: "available", condition: "Running", message: "Ready." }],
};
const state: StackState = {
  packageManager: {
    state: "running",
    detail: undefined,
    url: "http://x:1",
    consoleUrl: undefined,
    broken: undefined,
    deployments: [{ key: "order", condition: "Running", clusters: [{ name: "edge", condition: "Running" }] }],
  },
  clusters: [edge],
};
const info = {
  url: "http://x:1",
  pageUrl: "http://x:2",
  dataDir: "/data",
  defaults: { url: "http://x:1", dataDir: "/data" },
  starts: { count: 3, previousAt: "earlier", clockWentBack: false },
  kubectl: "kubectl",
  kubeconfig: "/data/kubeconfig",
};
const view: UpView = { ...info, state };
describe("the screen of a running stack", () => {
  test("shows components, addresses, data folder and how to stop", () => {
    const text = upLines({ ...view, rssBytes: 300 * 2 ** 20 }).join("\n");
    expect(text).toContain("http://x:1/api/v1 (API reference: http://x:1/docs)");
    expect(text).toMatch(/● Package manager +http:\/\/x:1/);
    expect(text).toMatch(/● Deployment order +edge Running/);
    expect(text).toMatch(/● Cluster edge +http:\/\/127\.0\.0\.1:1 \(env=edge, zone=a, 2 nodes, availability 99 %\)/);
    expect(text).toContain("/data (start 3, previous start earlier)");
    expect(text).toContain("Memory    300 MB");
    expect(text).toContain("Ctrl-C, or npx oaas down");
    expect(text).toContain("    npx oaas deployment status order\n    npx oaas explain order\n");
    expect(text).not.toContain("curl");
    expect(text, "the console is not built").not.toContain("OaaS console");
  });

  test("shows the address of the console first", () => {
    const [first, second] = upLines({ ...view, consoleUrl: "http://x:1/" }).filter((line) => line !== "");
    expect(first).toBe("OaaS console: http://x:1/");
    expect(second).toContain("OaaS package manager");
  });

  test("shows a deployment that serves in spite of a failure as degraded, not as failed", () => {
    const deployments = [{ key: "order", condition: "Degraded", clusters: [{ name: "edge", condition: "Degraded" }] }];
    const shown = { ...view, state: { ...state, packageManager: { ...state.packageManager, deployments } } };
    const text = upLines(shown).join("\n");
    expect(text).toMatch(/▲ Deployment order +edge Degraded/);
    expect(text).toContain("▲ degraded");
    expect(text).not.toContain("✗");
  });

  test.each([
    { case: "one kubeconfig for all clusters", shown: view, line: "    export KUBECONFIG=/data/kubeconfig" },
    {
      case: "a context per cluster",
      shown: view,
      line: "    kubectl --context oaas-edge get classruntimes,deployments,pods",
    },
    {
      case: "shell quoting",
      shown: { ...view, kubeconfig: "/my data/it's/kubeconfig" },
      line: String.raw`    export KUBECONFIG='/my data/it'\''s/kubeconfig'`,
    },
    {
      case: "the kubectl of the stack if the machine has none",
      shown: { ...view, kubectl: "/cache/bin/kubectl" },
      line: "    /cache/bin/kubectl --context oaas-edge get classruntimes,deployments,pods",
    },
  ])("prints commands with $case", ({ shown, line }) => {
    expect(upLines(shown)).toContain(line);
  });

  test("prints no settings for a stack with the default address and folder", () => {
    expect(upLines(view).join("\n")).not.toMatch(/OAAS_|--data/);
  });

  test.each([
    {
      case: "another port",
      overrides: { url: "http://x:9" },
      settings: "OAAS_PM_URL=http://x:9",
      stop: "npx oaas down",
    },
    {
      case: "another folder",
      overrides: { dataDir: "/my data" },
      settings: "OAAS_STACK_DATA_DIR='/my data'",
      stop: "npx oaas down --data '/my data'",
    },
    {
      case: "both",
      overrides: { url: "http://x:9", dataDir: "/d" },
      settings: "OAAS_PM_URL=http://x:9 OAAS_STACK_DATA_DIR=/d",
      stop: "npx oaas down --data /d",
    },
  ])("prints the settings for oaas with $case", ({ overrides, settings, stop }) => {
    const lines = upLines({ ...view, ...overrides });
    expect(lines).toContain(`    export ${settings}   # for npx oaas`);
    expect(lines).toContain(`  Stop      Ctrl-C, or ${stop}`);
  });

  test("prints no kubectl commands without clusters", () => {
    const text = upLines({
      ...view,
      state: { packageManager: { ...state.packageManager, deployments: [] }, clusters: [] },
    }).join("\n");
    expect(text).not.toContain("kubectl");
    expect(text).toContain("    npx oaas package list\n");
  });

  test("shows logs instead of the commands", () => {
    const text = upLines({ ...view, logs: ["12:00 edge made"] }).join("\n");
    expect(text).toContain("    12:00 edge made");
    expect(text).not.toContain("Try it");
  });

  test.each([
    { rows: 60, has: ["Try it", "Inspect the", "Stop "], hasNot: ["enlarge the window"] },
    { rows: 25, has: ["Package manager", "Stop "], hasNot: ["Inspect the", "enlarge the window"] },
    { rows: 14, has: ["Cluster edge", "Stop "], hasNot: ["class  ", "enlarge the window"] },
    { rows: 6, has: ["enlarge the window to see more"], hasNot: ["Stop "] },
  ])("keeps the most important lines in a window of $rows rows", ({ rows, has, hasNot }) => {
    const lines = upLines(view, { columns: 60, rows });
    expect(lines.length).toBeLessThan(rows);
    for (const line of lines) expect(line.length).toBeLessThan(60);
    for (const text of has) expect(lines.join("\n")).toContain(text);
    for (const text of hasNot) expect(lines.join("\n")).not.toContain(text);
  });
});

test("shows a line per cluster during the start", () => {
  const lines = startLines({ step: "edge: API server · cloud: up", seconds: 3, notes: ["a note"] });
  expect(lines).toEqual([
    "",
    "Starting the OaaS local stack, 3 s",
    "",
    "  ◐ edge: API server",
    "  ◐ cloud: up",
    "",
    "  a note",
    "",
  ]);
});

test.each([
  ["abc", 2, "ab"],
  ["abc", 3, "abc"],
  ["\u001B[32m●\u001B[0m run", 3, "\u001B[32m●\u001B[0m r"],
  ["😀b", 1, "😀"],
])("truncates %j at %i columns to %j", (line, columns, text) => {
  expect(truncateLine(line, columns)).toBe(text);
});

describe("displays", () => {
  const explanation = { summary: "Function add: no image.", clusters: [{ name: "edge", message: "no image" }] };
  const read = { state: async () => ({ state }), explanation: async () => explanation };

  test("lines: each step once, then the components, then ready", async () => {
    const written: string[] = [];
    const display = createLineDisplay({
      clock: virtualAmbient(1).clock,
      output: "text",
      write: (line) => void written.push(line),
    });
    display.step("package manager");
    display.step("package manager, still");
    display.note("read this");
    await display.showUp(info, read);
    expect(written.slice(0, 2)).toEqual(["starting: package manager", "starting: read this"]);
    expect(written.at(-1)).toBe("ready: http://x:1");
    expect(written.join("\n")).not.toContain("\u001B");
  });

  test("json: one object per line, the last one ready", async () => {
    const written: string[] = [];
    const display = createLineDisplay({
      clock: virtualAmbient(1).clock,
      output: "json",
      write: (line) => void written.push(line),
    });
    display.step("package manager");
    await display.showUp(info, read);
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual(
      [
        { status: "starting", step: "package manager" },
        {
          status: "ready",
          url: "http://x:1",
          page_url: "http://x:2",
          data_dir: "/data",
          start: 3,
          package_manager: state.packageManager,
          clusters: JSON.parse(JSON.stringify(state.clusters)) as unknown,
        },
      ].map((line) => JSON.parse(JSON.stringify(line)) as unknown),
    );
  });

  const openScreen = async (readState: () => StackState = () => state) => {
    const time = new VirtualTime();
    const written: string[] = [];
    const terminal = { size: () => ({ columns: 100, rows: 60 }), write: (text: string) => void written.push(text) };
    const paint = (text: string) => text;
    let quits = 0;
    const quit = () => void (quits += 1);
    const logs = () => ["a log line"];
    const display = createScreenDisplay({ clock: time, timers: time, terminal, paint, logs, quit });
    display.step("package manager");
    await display.showUp(info, { ...read, state: async () => ({ state: readState() }) });
    const press = async (...keys: readonly string[]): Promise<string> => {
      for (const key of keys) display.press(key);
      await time.advance(0);
      return written.at(-1) ?? "";
    };
    return { time, written, display, press, quits: () => quits };
  };

  test("screen: redraws in place on changes only, and toggles the logs", async () => {
    let now: StackState = state;
    const { time, written, display, press } = await openScreen(() => now);
    expect(written.at(-1)).toContain("A\u001B[J");
    const before = written.length;
    await time.advance(10_000);
    expect(written.length, "no redraw without a change").toBe(before);
    now = { ...state, clusters: [{ ...edge, broken: "cut off" }] };
    await time.advance(3_000);
    expect(written.at(-1)).toContain("cut off");
    expect(await press("l")).toContain("a log line");
    display.end();
    const drawn = written.length;
    now = state;
    await time.advance(10_000);
    expect(written.length).toBe(drawn);
  });

  test("screen: shows its keys and help", async () => {
    const { written, press, quits } = await openScreen();
    expect(written.at(-1)).toMatch(/Keys +↑ ↓ select .*\/ filter .*\? help .*q stop/);
    expect(await press("?")).toMatch(/Help \(\? or Esc closes it\)[^]*Enter +details/);
    expect(await press("escape")).not.toContain("Help (");
    await press("q");
    expect(quits()).toBe(1);
  });

  test("screen: filters the components while a text is typed", async () => {
    const { press } = await openScreen();
    const typed = await press("/", ...Array.from("cLuSter edge"));
    expect(typed).toMatch(/Filter: cLuSter edge_ .*\(1 shown\)/);
    expect(typed).toContain("Cluster edge");
    expect(typed).not.toContain("● Package manager");
    expect(await press("backspace", "q")).toContain("Filter: cLuSter edgq_");
    expect(await press("escape")).toContain("● Package manager");
  });

  test("screen: selects a component and shows why, conditions and commands", async () => {
    const { press } = await openScreen();
    expect(await press("down", "down", "down")).toMatch(/^› ● Deployment order/m);
    const details = await press("enter");
    expect(details).toMatch(
      /Deployment order \(Esc closes it\):\n\n +Function add: no image\.\n +edge: Running, no image/,
    );
    expect(details).toContain("    $ npx oaas explain order");
    expect(await press("down")).toMatch(
      /Cluster edge \(Esc[^]*\$ npx oaas cluster health edge\n[^]*export KUBECONFIG=\/data\/kubeconfig\n/,
    );
    expect(await press("down", "down")).toMatch(
      /phase: available\n +message: Ready\.[^]*describe classruntime order-edge/,
    );
    expect(await press("escape", "escape")).not.toMatch(/^›/m);
  });
});

test("decodes keys of a terminal and ignores unknown sequences", () => {
  expect(decodeKeys("a\u001B[A\u001BOB\r\u001B\u007F\u0003\u001B[3~/é\t")).toEqual([
    "a",
    "up",
    "down",
    "enter",
    "escape",
    "backspace",
    "ctrl-c",
    "/",
    "é",
  ]);
});
