import { readFileSync } from "node:fs";
import path from "node:path";
import { describeWith } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { missingOutput, runBlocks, scriptOf } from "../src/guide-script.ts";
import { componentsFor, startGuideWorld, type GuideWorld } from "../src/guide-world.ts";
import { allPages, ROOT } from "../src/pages.ts";

const PAGES = [...allPages()]
  .map(([file, page]) => ({ file, blocks: runBlocks(page) }))
  .filter(({ blocks }) => blocks.length > 0);

let world: GuideWorld;
beforeAll(async () => {
  world = await startGuideWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** What is registered, deployed and known; a page leaves it as it found it. */
async function platform(): Promise<unknown> {
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

const follow = async ({ blocks }: (typeof PAGES)[number]) => {
  const before = await platform();
  const { exitCode, stdout } = await world.run(scriptOf(blocks));
  expect(exitCode, stdout).toBe(0);
  expect(missingOutput(blocks, stdout), stdout).toEqual([]);
  expect(await platform(), "a page takes away what it brought").toEqual(before);
};

/** What `/metrics` declares, as the page writes it: name, type and meaning. */
async function servedMetrics(url: string): Promise<string[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const helps = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)];
  return helps.map(([, name, help]) => `${name} ${types.get(name)} ${help}`);
}

/** Served only with a setting that the local stack leaves off: reports to a package manager, health of stores, several replicas. */
const WITH_A_SETTING = /^(?:crm_pm_reports_\w+|crm_odgm_readings_total|kube_leader_leading) /;

test("the metrics that are served are those of the reference", async () => {
  const page = readFileSync(path.join(ROOT, "docs", "reference", "metrics.md"), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \| [^|]* \| (.*) \|$/gm)];
  const documented = rows.map(([, name, type, help]) => `${name} ${type} ${help}`);
  const served = await Promise.all([world.url, ...world.managers].map(servedMetrics));
  const expected = documented.filter((metric) => !WITH_A_SETTING.test(metric)).toSorted();
  expect([...new Set(served.flat())].toSorted()).toEqual(expected);
});

test("there are pages with commands", () => {
  expect(PAGES.length).toBeGreaterThan(5);
});

for (const page of PAGES) {
  describeWith(componentsFor(scriptOf(page.blocks)), page.file, () => {
    test("its commands do what it says", () => follow(page));
  });
}
