import { virtualAmbient, VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import type { ClusterState } from "../clusters/cluster-state.ts";
import type { StackState } from "../parts.ts";
import { linesFace } from "./lines-face.ts";
import { screenFace } from "./screen-face.ts";
import { clipped } from "./text.ts";
import { startLines, upLines, type UpView } from "./view.ts";

const edge: ClusterState = {
  name: "edge",
  labels: { env: "edge", zone: "a" },
  nodes: 2,
  availability: 0.99,
  context: "oaas-edge",
  broken: undefined,
  state: "running",
  detail: undefined,
  apiUrl: "http://127.0.0.1:1",
  kubeconfig: "/data/clusters/edge/kubeconfig",
  managerUrl: "http://127.0.0.1:2",
  classes: [{ namespace: "default", name: "order-edge", phase: "available", message: "Ready." }],
};
const state: StackState = {
  packageManager: {
    state: "running",
    detail: undefined,
    url: "http://x:1",
    broken: undefined,
    deployments: [{ key: "order", condition: "Running", clusters: [{ name: "edge", condition: "Running" }] }],
  },
  clusters: [edge],
};
const fixed = {
  url: "http://x:1",
  pageUrl: "http://x:2",
  dataDir: "/data",
  usual: { url: "http://x:1", dataDir: "/data" },
  starts: { count: 3, previousAt: "earlier", clockWentBack: false },
  kubectl: "kubectl",
  kubeconfig: "/data/kubeconfig",
};
const view: UpView = { ...fixed, state };
describe("the screen of a stack that is up", () => {
  test("shows each part with what makes it differ, the addresses, the data, and how to stop", () => {
    const text = upLines({ ...view, rssBytes: 300 * 2 ** 20 }).join("\n");
    expect(text).toContain("http://x:1/api/v1 (reference: http://x:1/docs)");
    expect(text).toMatch(/● Package manager +http:\/\/x:1/);
    expect(text).toMatch(/● Deployment order +edge running/);
    expect(text).toMatch(/● Cluster edge +http:\/\/127\.0\.0\.1:1 \(env=edge, zone=a, 2 nodes, up 99 %\)/);
    expect(text).toContain("/data (start 3, the last was earlier)");
    expect(text).toContain("300 MB in all");
    expect(text).toContain("Ctrl-C, or npx oaas down");
    expect(text).toContain("    curl http://x:1/api/v1/deployments/order/status");
  });

  test.each([
    { why: "one line for all clusters", shown: view, line: "    export KUBECONFIG=/data/kubeconfig" },
    {
      why: "each cluster by its context",
      shown: view,
      line: "    kubectl --context oaas-edge get classruntimes,deployments,pods",
    },
    {
      why: "a folder with a space and a quote is quoted for the shell",
      shown: { ...view, kubeconfig: "/my data/it's/kubeconfig" },
      line: String.raw`    export KUBECONFIG='/my data/it'\''s/kubeconfig'`,
    },
    {
      why: "without a kubectl of its own the machine uses ours",
      shown: { ...view, kubectl: "/cache/bin/kubectl" },
      line: "    /cache/bin/kubectl --context oaas-edge get classruntimes,deployments,pods",
    },
  ])("commands fit the place: $why", ({ shown, line }) => {
    expect(upLines(shown)).toContain(line);
  });

  test("where oaas looks by itself nothing has to be set", () => {
    expect(upLines(view).join("\n")).not.toMatch(/OAAS_|--data/);
  });

  test.each([
    {
      why: "another port",
      elsewhere: { url: "http://x:9" },
      settings: "OAAS_PM_URL=http://x:9",
      stop: "npx oaas down",
    },
    {
      why: "another folder",
      elsewhere: { dataDir: "/my data" },
      settings: "OAAS_STACK_DATA_DIR='/my data'",
      stop: "npx oaas down --data '/my data'",
    },
    {
      why: "both",
      elsewhere: { url: "http://x:9", dataDir: "/d" },
      settings: "OAAS_PM_URL=http://x:9 OAAS_STACK_DATA_DIR=/d",
      stop: "npx oaas down --data /d",
    },
  ])("elsewhere it says how oaas finds this stack: $why", ({ elsewhere, settings, stop }) => {
    const lines = upLines({ ...view, ...elsewhere });
    expect(lines).toContain(`    export ${settings}   # for npx oaas`);
    expect(lines).toContain(`  Stop      Ctrl-C, or ${stop}`);
  });

  test("without clusters it offers no commands for them", () => {
    const text = upLines({
      ...view,
      state: { packageManager: { ...state.packageManager, deployments: [] }, clusters: [] },
    }).join("\n");
    expect(text).not.toContain("kubectl");
    expect(text).toContain("    curl http://x:1/api/v1/packages\n");
  });

  test("logs take the place of what to try", () => {
    const text = upLines({ ...view, logs: ["12:00 edge made"] }).join("\n");
    expect(text).toContain("    12:00 edge made");
    expect(text).not.toContain("Ask it");
  });

  test.each([
    { rows: 60, has: ["Ask it", "Look into", "Stop "], hasNot: ["larger window"] },
    { rows: 25, has: ["Package manager", "Stop "], hasNot: ["Look into", "larger window"] },
    { rows: 14, has: ["Cluster edge", "Stop "], hasNot: ["class  ", "larger window"] },
    { rows: 6, has: ["a larger window shows more"], hasNot: ["Stop "] },
  ])("in a window of $rows rows it keeps what matters most", ({ rows, has, hasNot }) => {
    const lines = upLines(view, { columns: 60, rows });
    expect(lines.length).toBeLessThan(rows);
    for (const line of lines) expect(line.length).toBeLessThan(60);
    for (const text of has) expect(lines.join("\n")).toContain(text);
    for (const text of hasNot) expect(lines.join("\n")).not.toContain(text);
  });
});

test("while it starts, each cluster's step has a line", () => {
  const lines = startLines({ doing: "edge: API server · cloud: up", seconds: 3, notes: ["a note"] });
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
])("%j in %i columns is %j", (line, columns, text) => {
  expect(clipped(line, columns)).toBe(text);
});

describe("faces", () => {
  const look = async () => ({ state });

  test("lines: each step once, then everything, and ready at the end", async () => {
    const written: string[] = [];
    const face = linesFace({
      clock: virtualAmbient(1).clock,
      output: "text",
      write: (line) => void written.push(line),
    });
    face.now("package manager");
    face.now("package manager, still");
    face.note("read this");
    await face.up(fixed, look);
    expect(written.slice(0, 2)).toEqual(["starting: package manager", "starting: read this"]);
    expect(written.at(-1)).toBe("ready: http://x:1");
    expect(written.join("\n")).not.toContain("\u001B");
  });

  test("json: one object per line, the last is ready", async () => {
    const written: string[] = [];
    const face = linesFace({
      clock: virtualAmbient(1).clock,
      output: "json",
      write: (line) => void written.push(line),
    });
    face.now("package manager");
    await face.up(fixed, look);
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

  test("a screen draws over itself, only when something changed, and shows logs on demand", async () => {
    const time = new VirtualTime();
    let written: string[] = [];
    const terminal = { size: () => ({ columns: 100, rows: 50 }), write: (text: string) => void written.push(text) };
    const paint = (text: string) => text;
    const face = screenFace({ clock: time, timers: time, terminal, paint, logs: () => ["a log line"] });
    face.now("package manager");
    let now: StackState = state;
    await face.up(fixed, async () => ({ state: now }));
    expect(written.at(-1)).toContain("A\u001B[J");
    const before = written.length;
    await time.advance(10_000);
    expect(written.length, "nothing changed, nothing drawn").toBe(before);
    now = { ...state, clusters: [{ ...edge, broken: "cut off" }] };
    await time.advance(3_000);
    expect(written.at(-1)).toContain("cut off");
    face.toggleLogs();
    expect(written.at(-1)).toContain("a log line");
    face.end();
    written = [];
    now = state;
    await time.advance(10_000);
    expect(written).toEqual([]);
  });
});
