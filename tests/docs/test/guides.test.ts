import { readFileSync } from "node:fs";
import path from "node:path";
import { describeWith } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { missingOutput, runBlocks, scriptOf } from "../src/guide-script.ts";
import { componentsFor, startGuideEnvironment, type GuideEnvironment } from "../src/guide-environment.ts";
import { allPages, ROOT } from "../src/pages.ts";
import { tableRows } from "../src/tables.ts";

const PAGES = [...allPages()]
  .map(([file, page]) => ({ file, blocks: runBlocks(page) }))
  .filter(({ blocks }) => blocks.length > 0);

let world: GuideEnvironment;
beforeAll(async () => {
  world = await startGuideEnvironment();
});
afterAll(() => world[Symbol.asyncDispose]());

/** All packages, deployments and clusters; a page must not change them. */
async function readObjects(): Promise<unknown> {
  const [packages, deployments, clusters] = await Promise.all(
    [["packages", "name"] as const, ["deployments", "key"] as const, ["clusters", "name"] as const].map(
      async ([path, name]) => {
        const response = await fetch(`${world.url}/api/v1/${path}`);
        return ((await response.json()) as readonly Record<string, unknown>[]).map((item) => item[name]);
      },
    ),
  );
  return { packages, deployments, clusters };
}

const runPage = async ({ blocks }: (typeof PAGES)[number]) => {
  const before = await readObjects();
  const { exitCode, stdout } = await world.run(scriptOf(blocks));
  expect(exitCode, stdout).toBe(0);
  expect(missingOutput(blocks, stdout), stdout).toEqual([]);
  expect(await readObjects(), "the page cleans up").toEqual(before);
};

/** The metrics of `/metrics` in the format of the reference: name, type and description. */
async function servedMetrics(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)];
  return helps.map(([, name, help]) => `${name} ${types.get(name)} ${help}`);
}

/** Metrics of features that are off in the local stack. */
const WITH_A_SETTING = /^(?:oaas_config_\w+|crm_pm_reports_\w+|kube_leader_leading|oaas_trace_spans_total) /;

test("the reference lists exactly the served metrics", async () => {
  const page = readFileSync(path.join(ROOT, "docs", "reference", "metrics.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| [^|]* \| (.*) \|$/gm)];
  const documented = rows.map(([, name, type, help]) => `${name} ${type} ${help}`);
  const served = await Promise.all([world.url, ...world.managers].map(servedMetrics));
  const expected = documented.filter((metric) => !WITH_A_SETTING.test(metric)).toSorted();
  expect([...new Set(served.flat())].toSorted()).toEqual(expected);
});

/** The commands of the second column of the table in the guide for users of kubectl. */
function kubectlEquivalents(): readonly string[] {
  const page = readFileSync(path.join(ROOT, "docs", "guides", "coming-from-kubectl.md"), "utf8");
  return tableRows(page, ["kubectl", "oaas"]).map(([, cell = ""]) => cell.replaceAll("`", ""));
}

test("every equivalent of a kubectl command works", async () => {
  const commands = kubectlEquivalents();
  expect(commands.length).toBeGreaterThan(30);
  const counter = "-f examples/packages/counter.yaml -f examples/deployments/counter.yaml";
  const before = await readObjects();
  // A second revision, so that there is one to go back to.
  const prepare = `oaas apply ${counter} --wait && (cat examples/deployments/counter.yaml; echo 'nfr_requirements: {max_latency_ms: 500}') | oaas apply -f - --wait`;
  expect((await world.run(prepare)).exitCode).toBe(0);
  for (const command of commands) {
    // A watch ends with Ctrl-C. diff exits with 1 if there are differences.
    const isWatch = command.endsWith(" -w");
    const { exitCode, stdout, stderr } = await world.run(isWatch ? `timeout -s INT 10 ${command}` : command);
    const expected = isWatch ? [124, 130] : command.startsWith("oaas diff") ? [0, 1] : [0];
    expect(expected, `${command}: ${exitCode}\n${stdout}\n${stderr}`).toContain(exitCode);
  }
  expect(await readObjects(), "the table cleans up").toEqual(before);
}, 600_000);

test("finds pages with commands", () => {
  expect(PAGES.length).toBeGreaterThan(5);
});

for (const page of PAGES) {
  describeWith(componentsFor(scriptOf(page.blocks)), page.file, () => {
    test("its commands print the documented output", () => runPage(page));
  });
}
