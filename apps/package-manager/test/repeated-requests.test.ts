import path from "node:path";
import { makeRunFolder, sweepSize, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { KillablePm } from "./killable-pm.ts";
import { echoPackage, type Answer } from "./running-pm.ts";

/** A request with an idempotency key for its own package and deployment, both named `id`. */
interface Scenario {
  readonly name: string;
  /** Whether package and deployment exist before, with two revisions each. */
  readonly exists: boolean;
  readonly request: (id: string) => { readonly method?: string; readonly path: string; readonly body: object };
  /** The precondition of the request. */
  readonly condition?: "if-match" | "if-none-match";
  readonly answer: { readonly status: number; readonly json: object };
  /** Where the effect is counted, and the count with it. */
  readonly counted?: { readonly path: (id: string) => string; readonly count: number };
}

const packageOf = (id: string, tag: number): object =>
  echoPackage(id, { functions: [{ key: "echo", provision_config: { container_image: `echo:${tag}` } }] });
const deploymentOf = (id: string, more: object = {}): object => ({
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
    request: (id) => ({ path: "/api/v1/packages", body: packageOf(id, 1) }),
    answer: { status: 201, json: { status: "created" } },
    counted: { path: packageRevisions, count: 1 },
  },
  {
    name: "updating a package",
    exists: true,
    request: (id) => ({ path: `/api/v1/packages/${id}`, body: packageOf(id, 3) }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: packageRevisions, count: 3 },
  },
  {
    name: "rolling back a package",
    exists: true,
    request: (id) => ({ path: `/api/v1/packages/${id}/rollback`, body: { revision: 1 } }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: packageRevisions, count: 3 },
  },
  {
    name: "creating a deployment",
    exists: false,
    request: (id) => ({ path: "/api/v1/deployments", body: deploymentOf(id) }),
    condition: "if-none-match",
    answer: { status: 200, json: { status: "created" } },
    counted: { path: deploymentRevisions, count: 1 },
  },
  {
    name: "updating a deployment",
    exists: true,
    request: (id) => ({ method: "PUT", path: `/api/v1/deployments/${id}`, body: deploymentOf(id, { addons: ["c"] }) }),
    condition: "if-match",
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: deploymentRevisions, count: 3 },
  },
  {
    name: "rolling back a deployment",
    exists: true,
    request: (id) => ({ path: `/api/v1/deployments/${id}/rollback`, body: { revision: 1 } }),
    answer: { status: 200, json: { status: "updated" } },
    counted: { path: deploymentRevisions, count: 3 },
  },
  {
    name: "adding a cluster",
    exists: false,
    request: (id) => ({ path: "/api/v1/clusters", body: { name: id, url: `http://127.0.0.1:${id.slice(2)}` } }),
    answer: { status: 201, json: { origin: "api" } },
  },
];

/** The writes of a request: the audit entry, the key, then the effect. The sweep also kills after later writes. */
const [KEY, EFFECT] = [2, 3];
const killPoints = (scenario: Scenario): readonly number[] =>
  scenario === SCENARIOS[0] || sweepSize(1, 2) === 2
    ? Array.from({ length: sweepSize(2, 6) }, (_, at) => KEY + at)
    : [EFFECT];

describe("a request with an idempotency key whose process is killed", () => {
  let folder: RunFolder;
  let crm: ScriptedCrm;
  let killable: KillablePm;
  let runs = 0;
  beforeAll(async () => {
    folder = await makeRunFolder("pm-repeated-requests");
    crm = await ScriptedCrm.start({ name: "east" });
    const env = { STORAGE_TYPE: "sqlite", STORAGE_FILE: path.join(folder.path, "pm.db") };
    killable = await KillablePm.start(folder.path, [crm], env);
  });
  afterAll(async () => {
    await killable?.close();
    await crm?.close();
    await folder.remove();
  });

  const createResources = async (id: string, exists: boolean): Promise<void> => {
    const { pm } = killable;
    expect((await pm.call("POST", "/api/v1/packages", { body: packageOf(id, 1) })).status).toBe(201);
    if (!exists) return;
    expect((await pm.call("PUT", `/api/v1/deployments/${id}`, { body: deploymentOf(id) })).status).toBe(200);
    expect((await pm.call("POST", `/api/v1/packages/${id}`, { body: packageOf(id, 2) })).status).toBe(200);
    const second = deploymentOf(id, { addons: ["b"] });
    expect((await pm.call("PUT", `/api/v1/deployments/${id}`, { body: second })).status).toBe(200);
    // The report of the cluster changes the ETag, and is the last write.
    const read = async (): Promise<unknown> => (await pm.call("GET", `/api/v1/deployments/${id}`)).json;
    await expect.poll(read, { timeout: 20_000 }).toMatchObject({ condition: "RUNNING" });
  };

  const conditionOf = async ({ condition, request }: Scenario, id: string): Promise<Record<string, string>> => {
    if (condition === undefined) return {};
    if (condition === "if-none-match") return { "if-none-match": "*" };
    const thing = request(id).path.includes("/packages/") ? "packages" : "deployments";
    return { "if-match": (await killable.pm.call("GET", `/api/v1/${thing}/${id}`)).headers.get("etag") ?? "" };
  };

  test.each(SCENARIOS)("$name: a retry returns the response, with one effect", async (scenario) => {
    for (const nth of killPoints(scenario)) {
      runs += 1;
      const id = `r-${runs}`;
      if (scenario.exists || scenario.name.includes("deployment")) await createResources(id, scenario.exists);
      const headers = { "idempotency-key": id, ...(await conditionOf(scenario, id)) };
      const { method = "POST", path: target, body } = scenario.request(id);
      const send = (): Promise<Answer> => killable.pm.call(method, target, { body, headers });
      // Stores the audit entries of the requests before.
      await killable.pm.call("GET", "/api/v1/audit?limit=1");
      killable.killAtWrite({ nth, moment: "after" });
      const { exited } = killable.pm.process;
      await send().catch(() => exited);
      const why = `killed after write ${nth}`;
      if (nth <= EFFECT) expect(killable.isDead, why).toBe(true);
      await killable.restart();
      const again = await send();
      expect({ status: again.status, json: again.json }, why).toMatchObject(scenario.answer);
      const { counted } = scenario;
      if (counted === undefined) continue;
      expect((await killable.pm.call("GET", counted.path(id))).json, why).toHaveLength(counted.count);
    }
  });
});
