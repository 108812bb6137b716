import path from "node:path";
import {
  describeWith,
  eventually,
  makeRunFolder,
  startEtcd,
  sweepSize,
  type EtcdUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { KillablePm, type KillPoint } from "./killable-pm.ts";
import { echoPackage, retryWhileLeaseLost, type Answer } from "./running-pm.ts";

const CLUSTERS = ["east", "west"];

/** A request for one deployment of one package, both named `id`. */
interface Scenario {
  readonly name: string;
  /** Whether the deployment exists before with image 1, and the package has image 2. */
  readonly exists: boolean;
  readonly deployment?: object;
  /** Whether the request also brings the package with image 2. */
  readonly bringsPackage?: true;
  /** Writes at which the process is killed in every run, before and after their effect. */
  readonly firstWrites?: number;
  readonly act: (pm: KillablePm, id: string, deployment: object) => Promise<Answer>;
  /** The expected image in every cluster; undefined when no unit may be left. */
  readonly image?: string;
}

const put = ({ pm }: KillablePm, id: string, deployment: object) =>
  pm.call("PUT", `/api/v1/deployments/${id}`, { body: deployment });
const ROLLING = { rollout: { strategy: "rolling", max_parallel: 1, gate: "available", on_failure: "roll_back" } };

const packageWith = (id: string, tag: number): object =>
  echoPackage(id, { functions: [{ key: "echo", provision_config: { container_image: `echo:${tag}` } }] });

const SCENARIOS: readonly Scenario[] = [
  {
    name: "create",
    exists: false,
    image: "echo:1",
    act: ({ pm }, _, deployment) => pm.call("POST", "/api/v1/deployments", { body: deployment }),
  },
  { name: "update", exists: true, image: "echo:2", act: put },
  { name: "rolling", exists: true, deployment: ROLLING, image: "echo:2", act: put },
  { name: "delete", exists: true, act: ({ pm }, id) => pm.call("DELETE", `/api/v1/deployments/${id}`) },
  {
    name: "set",
    exists: true,
    bringsPackage: true,
    firstWrites: 3,
    image: "echo:2",
    act: ({ pm }, id, deployment) =>
      pm.call("POST", "/api/v1/apply", { body: { documents: [{ deployment }, { package: packageWith(id, 2) }] } }),
  },
  { name: "cascade", exists: true, act: ({ pm }, id) => pm.call("DELETE", `/api/v1/packages/${id}?cascade=true`) },
];

/** A package manager with two clusters, and the assertions that must hold after each kill. */
class KillPointHarness {
  readonly pm: KillablePm;
  readonly crms: readonly ScriptedCrm[];
  /** Each run uses another deployment. */
  #runs = 0;

  constructor(pm: KillablePm, crms: readonly ScriptedCrm[]) {
    this.pm = pm;
    this.crms = crms;
  }

  deployment(scenario: Scenario, id: string): object {
    return { key: id, package_name: id, class_key: "Echo", target_clusters: CLUSTERS, ...scenario.deployment };
  }

  async prepare(scenario: Scenario, id: string): Promise<void> {
    const { pm } = this.pm;
    expect((await pm.call("POST", "/api/v1/packages", { body: packageWith(id, 1) })).status).toBe(201);
    if (!scenario.exists) return;
    const body = this.deployment(scenario, id);
    const created = await retryWhileLeaseLost(() => pm.call("POST", "/api/v1/deployments", { body }));
    expect(created.status, created.text).toBe(200);
    if (scenario.bringsPackage) return;
    expect((await pm.call("POST", `/api/v1/packages/${id}`, { body: packageWith(id, 2) })).status).toBe(200);
  }

  /** Sends the request; undefined when there is no response. */
  async send(scenario: Scenario, id: string): Promise<number | undefined> {
    const deployment = this.deployment(scenario, id);
    const answer = await retryWhileLeaseLost(() => scenario.act(this.pm, id, deployment)).catch(() => undefined);
    return answer?.status;
  }

  /** Cluster and image of every unit of the deployment. */
  unitsOf(id: string): string[] {
    return this.crms.flatMap((crm) =>
      crm.units
        .all()
        .filter(({ unit }) => unit.deploymentKey === id)
        .map(({ unit }) => `${crm.facts.name} ${unit.functions[0]?.provisionConfig?.containerImage}`),
    );
  }

  /** Waits until no operation is running, units match the record, and the history has an outcome for each revision. */
  async untilSettled(id: string): Promise<void> {
    await eventually(() => this.#assertSettled(id), { timeoutMs: 90_000, what: `${id} to settle` });
  }

  async #assertSettled(id: string): Promise<void> {
    const { pm } = this.pm;
    const status = await pm.call("GET", `/api/v1/deployments/${id}/status`);
    if (status.status === 404) return expect(this.unitsOf(id), "orphans").toEqual([]);
    expect(status.status).toBe(200);
    expect(["running", "compensating"]).not.toContain(status.json.operation?.state);
    const { json: mappings } = await pm.call("GET", `/api/v1/deployments/${id}/env-mappings`);
    const there = this.crms.flatMap((crm) =>
      crm.units
        .all()
        .filter(({ unit }) => unit.deploymentKey === id)
        .map(({ unit }) => [crm.facts.name, unit.id]),
    );
    expect(Object.fromEntries(there)).toEqual(mappings.env_ids);
    expect(there, "doubles").toHaveLength(Object.keys(mappings.env_ids).length);
    const { json: history } = await pm.call("GET", `/api/v1/deployments/${id}/revisions`);
    expect(history.map((each: { outcome: string }) => each.outcome)).not.toContain("Accepted");
    if (history[0]?.outcome !== "Running") return undefined;
    const image = history.length === 1 ? "echo:1" : "echo:2";
    return expect(this.unitsOf(id), "units match the history").toEqual(
      CLUSTERS.map((cluster) => `${cluster} ${image}`),
    );
  }

  /** The package and the deployment of a set have the same number of revisions. */
  async #assertAllOrNothing(id: string): Promise<void> {
    const [ofPackage, ofDeployment] = await Promise.all(
      ["packages", "deployments"].map((kind) => this.pm.pm.call("GET", `/api/v1/${kind}/${id}/revisions`)),
    );
    expect(ofPackage?.json, "package and deployment").toHaveLength(ofDeployment?.json.length as number);
  }

  /** Waits until the request has its effect. */
  async untilApplied(scenario: Scenario, id: string): Promise<void> {
    const wanted = scenario.image === undefined ? [] : CLUSTERS.map((cluster) => `${cluster} ${scenario.image}`);
    await eventually(() => expect(this.unitsOf(id)).toEqual(wanted), { timeoutMs: 60_000, what: `${id} to be there` });
    await this.untilSettled(id);
    const { pm } = this.pm;
    if (scenario.image === undefined) {
      expect((await pm.call("GET", `/api/v1/deployments/${id}`)).status).toBe(404);
    }
    if (scenario.name !== "cascade") return;
    await eventually(async () => (await pm.call("GET", `/api/v1/packages/${id}`)).status === 404, {
      what: "the package to be deleted",
    });
  }

  /** The number of writes and calls of an undisturbed run. */
  async measure(scenario: Scenario): Promise<{ readonly write: number; readonly call: number }> {
    const id = `${scenario.name}-alone`;
    await this.prepare(scenario, id);
    const before = { write: this.pm.writes, call: this.pm.calls };
    expect(await this.send(scenario, id)).toBeLessThan(300);
    await this.untilApplied(scenario, id);
    return { write: this.pm.writes - before.write, call: this.pm.calls - before.call };
  }

  /**
   * Kills the process at a point and checks that it recovers. The number of writes varies, because the drift reconciler
   * writes too: a point that is not reached is halved, down to the first one, which is always reached.
   */
  async assertSurvives(scenario: Scenario, kind: "write" | "call", point: KillPoint): Promise<void> {
    let { nth } = point;
    while (!(await this.#survive(scenario, kind, { ...point, nth }))) {
      expect(nth, `${scenario.name} never reached its first ${kind}`).toBeGreaterThan(1);
      nth = Math.floor(nth / 2);
    }
  }

  /** Kills the process if it reaches the point, restarts it, waits for convergence, and repeats the request. */
  async #survive(scenario: Scenario, kind: "write" | "call", point: KillPoint): Promise<boolean> {
    this.#runs += 1;
    const id = `${scenario.name}-${kind}-${point.nth}-${point.moment}-${this.#runs}`;
    await this.prepare(scenario, id);
    if (kind === "write") this.pm.killAtWrite(point);
    else this.pm.killAtCall(point);
    const { exited } = this.pm.pm.process;
    const response = this.send(scenario, id).then(async (status) => {
      if (status !== undefined) await this.untilSettled(id).catch(() => undefined);
      // Without a response the process is dead, or about to exit.
      else await exited;
    });
    await Promise.race([exited, response]);
    const died = this.pm.isDead;
    await this.pm.restart();
    if (scenario.bringsPackage) await this.#assertAllOrNothing(id);
    await this.untilSettled(id);
    const again = await this.send(scenario, id);
    expect(again === 404 || (again !== undefined && again < 300), `repeated request: ${again}`).toBe(true);
    await this.untilApplied(scenario, id);
    return died;
  }
}

/** Every point in a sweep; otherwise the middle one, alternately before and after its effect. */
function points(count: number, turn: number): readonly KillPoint[] {
  if (sweepSize(1, 2) === 2) {
    return Array.from({ length: count }, (_, at) => at + 1).flatMap((nth) => [
      { nth, moment: "before" },
      { nth, moment: "after" },
    ]);
  }
  return count === 0 ? [] : [{ nth: Math.ceil(count / 2), moment: turn % 2 === 0 ? "before" : "after" }];
}

function describeKills(scenarios: readonly Scenario[], env: (folder: string) => Record<string, string>): void {
  let folder: RunFolder;
  let harness: KillPointHarness;
  let crms: readonly ScriptedCrm[];
  beforeAll(async () => {
    folder = await makeRunFolder("pm-kill-points");
    crms = await Promise.all(CLUSTERS.map((name) => ScriptedCrm.start({ name })));
    harness = new KillPointHarness(await KillablePm.start(folder.path, crms, env(folder.path)), crms);
  });
  afterAll(async () => {
    await harness?.pm.close();
    await Promise.all(crms.map((crm) => crm.close()));
    await folder.remove();
  });

  test.each(scenarios.map((scenario, turn) => ({ name: scenario.name, scenario, turn })))(
    "during $name, at writes and at calls: no unit lost, left over or duplicated",
    { timeout: sweepSize(300_000, 3_600_000) },
    async ({ scenario, turn }) => {
      const taken = await harness.measure(scenario);
      expect(taken.write).toBeGreaterThan(0);
      const killPoints = (["write", "call"] as const).flatMap((kind, at) =>
        points(taken[kind], turn + at).map((point) => ({ kind, point })),
      );
      for (let nth = 1; nth <= (scenario.firstWrites ?? 0); nth += 1)
        for (const moment of ["before", "after"] as const) killPoints.push({ kind: "write", point: { nth, moment } });
      for (const { kind, point } of killPoints) await harness.assertSurvives(scenario, kind, point);
    },
  );
}

describe("killed by SIGKILL, on sqlite", () => {
  describeKills(SCENARIOS, (folder) => ({ STORAGE_TYPE: "sqlite", STORAGE_FILE: path.join(folder, "pm.db") }));
});

describeWith(["etcd"], "killed by SIGKILL, on etcd", () => {
  let etcd: EtcdUnderTest;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.close());
  describeKills(
    sweepSize(1, 2) === 2 ? SCENARIOS : SCENARIOS.filter(({ name }) => name === "rolling" || name === "set"),
    () => ({
      STORAGE_TYPE: "etcd",
      ETCD_ENDPOINTS: etcd.endpoints.join(","),
      // The lease of a killed process must expire each time.
      DEPLOY_LEASE: "2s",
    }),
  );
});
