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
import { MortalPm, type Doom } from "./mortal-pm.ts";
import { echoPackage, onceHeld, type Answer } from "./running-pm.ts";

const CLUSTERS = ["east", "west"];

/** What is asked about one deployment of a package of its own, both called `id`. */
interface Scenario {
  readonly name: string;
  /** Whether the deployment exists before, of image 1, and the package has image 2 by now. */
  readonly exists: boolean;
  readonly wish?: object;
  readonly act: (pm: MortalPm, id: string, wish: object) => Promise<Answer>;
  /** The image in every cluster in the end; undefined when nothing is to be left. */
  readonly image?: string;
}

const put = ({ pm }: MortalPm, id: string, wish: object) => pm.call("PUT", `/api/v1/deployments/${id}`, { body: wish });
const ROLLING = { rollout: { strategy: "rolling", max_parallel: 1, gate: "available", on_failure: "roll_back" } };

const SCENARIOS: readonly Scenario[] = [
  {
    name: "create",
    exists: false,
    image: "echo:1",
    act: ({ pm }, _, wish) => pm.call("POST", "/api/v1/deployments", { body: wish }),
  },
  { name: "update", exists: true, image: "echo:2", act: put },
  { name: "rolling", exists: true, wish: ROLLING, image: "echo:2", act: put },
  { name: "delete", exists: true, act: ({ pm }, id) => pm.call("DELETE", `/api/v1/deployments/${id}`) },
  { name: "cascade", exists: true, act: ({ pm }, id) => pm.call("DELETE", `/api/v1/packages/${id}?cascade=true`) },
];

/** A package manager over two clusters, and what must hold of it however often it died. */
class Stage {
  readonly pm: MortalPm;
  readonly crms: readonly ScriptedCrm[];
  /** Each turn has a deployment of its own. */
  #turns = 0;

  constructor(pm: MortalPm, crms: readonly ScriptedCrm[]) {
    this.pm = pm;
    this.crms = crms;
  }

  wish(scenario: Scenario, id: string): object {
    return { key: id, package_name: id, class_key: "Echo", target_clusters: CLUSTERS, ...scenario.wish };
  }

  async prepare(scenario: Scenario, id: string): Promise<void> {
    const { pm } = this.pm;
    const of = (tag: number) =>
      echoPackage(id, { functions: [{ key: "echo", provision_config: { container_image: `echo:${tag}` } }] });
    expect((await pm.call("POST", "/api/v1/packages", { body: of(1) })).status).toBe(201);
    if (!scenario.exists) return;
    const body = this.wish(scenario, id);
    const created = await onceHeld(() => pm.call("POST", "/api/v1/deployments", { body }));
    expect(created.status, created.text).toBe(200);
    expect((await pm.call("POST", `/api/v1/packages/${id}`, { body: of(2) })).status).toBe(200);
  }

  /** The request, made by a client that does not mind if nobody answers. */
  async ask(scenario: Scenario, id: string): Promise<number | undefined> {
    const wish = this.wish(scenario, id);
    const answer = await onceHeld(() => scenario.act(this.pm, id, wish)).catch(() => undefined);
    return answer?.status;
  }

  /** Cluster and image of every unit of the deployment, one entry for each. */
  unitsOf(id: string): string[] {
    return this.crms.flatMap((crm) =>
      crm.units
        .all()
        .filter(({ unit }) => unit.deploymentKey === id)
        .map(({ unit }) => `${crm.facts.name} ${unit.functions[0]?.provisionConfig?.containerImage}`),
    );
  }

  /** Nothing is under way, units are where the record says and nowhere else, and the history says what came of each wish. */
  async settles(id: string): Promise<void> {
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
    expect(history.map((each: { outcome: string }) => each.outcome)).not.toContain("running");
    if (history[0]?.outcome !== "succeeded") return undefined;
    const image = history.length === 1 ? "echo:1" : "echo:2";
    return expect(this.unitsOf(id), "what the history says").toEqual(CLUSTERS.map((cluster) => `${cluster} ${image}`));
  }

  /** What was asked for has come about. */
  async comesAbout(scenario: Scenario, id: string): Promise<void> {
    const wanted = scenario.image === undefined ? [] : CLUSTERS.map((cluster) => `${cluster} ${scenario.image}`);
    await eventually(() => expect(this.unitsOf(id)).toEqual(wanted), { timeoutMs: 60_000, what: `${id} to be there` });
    await this.settles(id);
    const { pm } = this.pm;
    if (scenario.image === undefined) {
      expect((await pm.call("GET", `/api/v1/deployments/${id}`)).status).toBe(404);
    }
    if (scenario.name !== "cascade") return;
    await eventually(async () => (await pm.call("GET", `/api/v1/packages/${id}`)).status === 404, {
      what: "the package to go",
    });
  }

  /** How many writes and calls it takes when nobody disturbs it. */
  async measure(scenario: Scenario): Promise<{ readonly write: number; readonly call: number }> {
    const id = `${scenario.name}-alone`;
    await this.prepare(scenario, id);
    const before = { write: this.pm.writes, call: this.pm.calls };
    expect(await this.ask(scenario, id)).toBeLessThan(300);
    await this.comesAbout(scenario, id);
    return { write: this.pm.writes - before.write, call: this.pm.calls - before.call };
  }

  /**
   * Dies there, and survives it. How many writes it takes differs from time to time, as notes of the keeper fall in
   * between or are gathered: a point that was not reached is tried again half as far, and the first one always is.
   */
  async surviveOnce(scenario: Scenario, kind: "write" | "call", doom: Doom): Promise<void> {
    let { nth } = doom;
    while (!(await this.#survive(scenario, kind, { ...doom, nth }))) {
      expect(nth, `${scenario.name} never came to its first ${kind}`).toBeGreaterThan(1);
      nth = Math.floor(nth / 2);
    }
  }

  /** Dies there, if it comes that far; starts again; settles by itself; then the client asks again and has its wish. */
  async #survive(scenario: Scenario, kind: "write" | "call", doom: Doom): Promise<boolean> {
    this.#turns += 1;
    const id = `${scenario.name}-${kind}-${doom.nth}-${doom.moment}-${this.#turns}`;
    await this.prepare(scenario, id);
    if (kind === "write") this.pm.killAtWrite(doom);
    else this.pm.killAtCall(doom);
    const { exited } = this.pm.pm.process;
    const answered = this.ask(scenario, id).then(async (status) => {
      if (status !== undefined) await this.settles(id).catch(() => undefined);
      // Without an answer it is dead, or about to be noticed as such.
      else await exited;
    });
    await Promise.race([exited, answered]);
    const died = this.pm.isDead;
    await this.pm.revive();
    await this.settles(id);
    const again = await this.ask(scenario, id);
    expect(again === 404 || (again !== undefined && again < 300), `asked again: ${again}`).toBe(true);
    await this.comesAbout(scenario, id);
    return died;
  }
}

/** Every point in the sweep; otherwise one in the middle, on either side in turn. */
function points(count: number, turn: number): readonly Doom[] {
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
  let stage: Stage;
  let crms: readonly ScriptedCrm[];
  beforeAll(async () => {
    folder = await makeRunFolder("pm-kill-points");
    crms = await Promise.all(CLUSTERS.map((name) => ScriptedCrm.start({ name })));
    stage = new Stage(await MortalPm.start(folder.path, crms, env(folder.path)), crms);
  });
  afterAll(async () => {
    await stage?.pm.close();
    await Promise.all(crms.map((crm) => crm.close()));
    await folder.remove();
  });

  test.each(scenarios.map((scenario, turn) => ({ name: scenario.name, scenario, turn })))(
    "during $name, at writes and at calls: nothing lost, nothing left over, nothing twice",
    { timeout: sweepSize(300_000, 3_600_000) },
    async ({ scenario, turn }) => {
      const taken = await stage.measure(scenario);
      expect(taken.write).toBeGreaterThan(0);
      const dooms = (["write", "call"] as const).flatMap((kind, at) =>
        points(taken[kind], turn + at).map((doom) => ({ kind, doom })),
      );
      for (const { kind, doom } of dooms) await stage.surviveOnce(scenario, kind, doom);
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
  describeKills(sweepSize(1, 2) === 2 ? SCENARIOS : SCENARIOS.slice(2, 3), () => ({
    STORAGE_TYPE: "etcd",
    ETCD_ENDPOINTS: etcd.endpoints.join(","),
    // That of a dead owner has to run out each time.
    DEPLOY_LEASE: "2s",
  }));
});
