import path from "node:path";
import { makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { KillablePm } from "./killable-pm.ts";
import { echoPackage, type Answer } from "./running-pm.ts";

/** One request that takes an idempotency key, about a package and a deployment of its own, both called `id`. */
interface Scenario {
  readonly name: string;
  /** What is there before: a package with two revisions, and a deployment with two. */
  readonly exists: boolean;
  readonly ask: (id: string) => { readonly method?: string; readonly path: string; readonly body: object };
  /** The request holds only for what is there before. */
  readonly condition?: "if-match" | "if-none-match";
  readonly answer: { readonly status: number; readonly json: object };
  /** Where the effect is counted, and how many there are with it. */
  readonly counted?: { readonly path: (id: string) => string; readonly count: number };
}

const packageOf = (id: string, tag: number): object =>
  echoPackage(id, { functions: [{ key: "echo", provision_config: { container_image: `echo:${tag}` } }] });
const wishOf = (id: string, more: object = {}): object => ({
  key: id,
  package_name: id,
  class_key: "Echo",
  target_clusters: ["east"],
  ...more,
});
const packageRevisions = (id: string): string => `/api/v1/packages/${id}/revisions`;
const deploymentRevisions = (id: string): string => `/api/v1/deployments/${id}/revisions`;

const SCENARIOS: readonly Scenario[] = [
  {
    name: "registering a package",
    exists: false,
    ask: (id) => ({ path: "/api/v1/packages", body: packageOf(id, 1) }),
    answer: { status: 201, json: { status: "created" } },
    counted: { path: packageRevisions, count: 1 },
  },
  {
    name: "updating a package",
    exists: true,
    ask: (id) => ({ path: `/api/v1/packages/${id}`, body: packageOf(id, 3) }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: packageRevisions, count: 3 },
  },
  {
    name: "rolling back a package",
    exists: true,
    ask: (id) => ({ path: `/api/v1/packages/${id}/rollback`, body: { revision: 1 } }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: packageRevisions, count: 3 },
  },
  {
    name: "creating a deployment",
    exists: false,
    ask: (id) => ({ path: "/api/v1/deployments", body: wishOf(id) }),
    condition: "if-none-match",
    answer: { status: 200, json: { status: "created" } },
    counted: { path: deploymentRevisions, count: 1 },
  },
  {
    name: "updating a deployment",
    exists: true,
    ask: (id) => ({ method: "PUT", path: `/api/v1/deployments/${id}`, body: wishOf(id, { addons: ["c"] }) }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: deploymentRevisions, count: 3 },
  },
  {
    name: "rolling back a deployment",
    exists: true,
    ask: (id) => ({ path: `/api/v1/deployments/${id}/rollback`, body: { revision: 1 } }),
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: deploymentRevisions, count: 3 },
  },
  {
    name: "adding a cluster",
    exists: false,
    ask: (id) => ({ path: "/api/v1/clusters", body: { name: id, url: `http://127.0.0.1:${id.slice(2)}` } }),
    answer: { status: 201, json: { origin: "api" } },
  },
];

/** That of the key is the same for all, and comes before that of the effect; the sweep has those after it, too. */
const [KEY, EFFECT] = [1, 2];
const dooms = (scenario: Scenario): readonly number[] =>
  scenario === SCENARIOS[0] || sweepSize(1, 2) === 2
    ? Array.from({ length: sweepSize(EFFECT, 6) }, (_, at) => KEY + at)
    : [EFFECT];

describe("a request with an idempotency key whose process is killed", () => {
  let folder: RunFolder;
  let crm: ScriptedCrm;
  let mortal: KillablePm;
  let turns = 0;
  beforeAll(async () => {
    folder = await makeRunFolder("pm-repeated-requests");
    crm = await ScriptedCrm.start({ name: "east" });
    const env = { STORAGE_TYPE: "sqlite", STORAGE_FILE: path.join(folder.path, "pm.db") };
    mortal = await KillablePm.start(folder.path, [crm], env);
  });
  afterAll(async () => {
    await mortal?.close();
    await crm?.close();
    await folder.remove();
  });

  const made = async (id: string, exists: boolean): Promise<void> => {
    const { pm } = mortal;
    expect((await pm.call("POST", "/api/v1/packages", { body: packageOf(id, 1) })).status).toBe(201);
    if (!exists) return;
    expect((await pm.call("PUT", `/api/v1/deployments/${id}`, { body: wishOf(id) })).status).toBe(200);
    expect((await pm.call("POST", `/api/v1/packages/${id}`, { body: packageOf(id, 2) })).status).toBe(200);
    const second = wishOf(id, { addons: ["b"] });
    expect((await pm.call("PUT", `/api/v1/deployments/${id}`, { body: second })).status).toBe(200);
  };

  const conditionOf = async ({ condition, ask }: Scenario, id: string): Promise<Record<string, string>> => {
    if (condition === undefined) return {};
    if (condition === "if-none-match") return { "if-none-match": "*" };
    const thing = ask(id).path.includes("/packages/") ? "packages" : "deployments";
    return { "if-match": (await mortal.pm.call("GET", `/api/v1/${thing}/${id}`)).headers.get("etag") ?? "" };
  };

  test.each(SCENARIOS)("$name: the same request again has its answer at once, and one effect", async (scenario) => {
    for (const nth of dooms(scenario)) {
      turns += 1;
      const id = `r-${turns}`;
      if (scenario.exists || scenario.name.includes("deployment")) await made(id, scenario.exists);
      const headers = { "idempotency-key": id, ...(await conditionOf(scenario, id)) };
      const { method = "POST", path: asked, body } = scenario.ask(id);
      const send = (): Promise<Answer> => mortal.pm.call(method, asked, { body, headers });
      mortal.killAtWrite({ nth, moment: "after" });
      const { exited } = mortal.pm.process;
      await send().catch(() => exited);
      const why = `killed after write ${nth}`;
      if (nth <= EFFECT) expect(mortal.isDead, why).toBe(true);
      await mortal.restart();
      const again = await send();
      expect({ status: again.status, json: again.json }, why).toMatchObject(scenario.answer);
      const { counted } = scenario;
      if (counted === undefined) continue;
      expect((await mortal.pm.call("GET", counted.path(id))).json, why).toHaveLength(counted.count);
    }
  });
});
