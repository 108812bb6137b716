import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oaas, startStack, stopStack, type CommandOutcome, type StackProcess } from "./stack-process.ts";

/** Health on every surface, compared with the pods of the clusters. */
const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const folder = mkdtempSync(path.join(tmpdir(), "oaas-health-"));
const dataDir = path.join(folder, "data");
const LONG = { timeoutMs: 90_000 };
let stack: StackProcess;

beforeAll(async () => {
  stack = await startStack(dataDir, ["--clusters=2"]);
});
afterAll(async () => {
  await stopStack(stack, "SIGTERM");
  for (const pid of processesWith(dataDir)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const run = (line: string): Promise<CommandOutcome> =>
  oaas(line.split(" "), { env: { OAAS_PM_URL: stack.url, OAAS_STACK_DATA_DIR: dataDir } });
const read = async (at: string): Promise<unknown> => (await fetch(`${stack.url}/api/v1/${at}`)).json();

interface Status {
  readonly condition: string;
  readonly clusters: readonly {
    readonly condition: string;
    readonly serving: boolean;
    readonly functions: readonly unknown[];
  }[];
}

const statusOf = async (key: string): Promise<Status> => (await read(`deployments/${key}/status`)) as Status;

interface Pod {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The images of the ready pods of the function in each cluster. */
async function servingImages(): Promise<readonly (readonly string[])[]> {
  const pods = stack.clusters.map(async ({ apiUrl }): Promise<readonly Pod[]> => {
    const list = (await (await fetch(`${apiUrl}/api/v1/namespaces/default/pods`)).json()) as { items: Pod[] };
    return list.items.filter(({ status }) =>
      (status.conditions ?? []).some((one) => one.type === "Ready" && one.status === "True"),
    );
  });
  const imagesOf = (ready: readonly Pod[]): readonly string[] =>
    ready.flatMap(({ spec }) => spec.containers.map(({ image }) => image)).filter((image) => image.includes("counter"));
  return (await Promise.all(pods)).map(imagesOf);
}

function deploymentFile(image: string): string {
  const file = path.join(folder, `deployment-${image}.yaml`);
  const text = readFileSync(path.join(ROOT, "examples", "deployments", "counter.yaml"), "utf8");
  // With three replicas a rolling update leaves two of the earlier revision until the first new one is ready.
  const provision = { container_image: `example.test/counter-add:${image}`, min_scale: 3 };
  writeFileSync(
    file,
    `${text}functions: ${JSON.stringify([{ function_key: "Counter.add", provision_config: provision }])}\n`,
  );
  return file;
}

describe("an update", () => {
  test("to a bad image is Degraded while the pods of the earlier revision serve, and Running after a rollback", async () => {
    const packageFile = path.join(ROOT, "examples", "packages", "counter.yaml");
    const applied = await run(`apply -f ${packageFile} -f ${deploymentFile("1.0.0")} --wait`);
    expect(applied.exitCode, applied.stderr).toBe(0);
    expect((await servingImages()).map((images) => images.length > 0)).toEqual([true, true]);
    const healthy = await run("status");
    expect([healthy.exitCode, healthy.stdout]).toEqual([0, expect.stringMatching(/\nHealthy: version /)]);

    expect((await run(`apply -f ${deploymentFile("missing")}`)).exitCode).toBe(0);
    const status = await eventually(async () => {
      const state = await statusOf("counter");
      expect([state.condition, ...state.clusters.map(({ condition }) => condition)]).toEqual([
        "Degraded",
        "Degraded",
        "Degraded",
      ]);
      return state;
    }, LONG);
    expect(status).toMatchObject({ desired_clusters: 2, serving_clusters: 2, up_to_date_clusters: 0 });
    for (const { functions, serving } of status.clusters) {
      expect(serving).toBe(true);
      expect(functions).toMatchObject([{ health: "Degraded", serving: true, updated_replicas: 0 }]);
    }
    for (const images of await servingImages()) {
      expect(images.length, "the earlier revision serves").toBeGreaterThan(0);
      expect(new Set(images)).toEqual(new Set(["example.test/counter-add:1.0.0"]));
    }

    const shown = await run("deployment status counter");
    expect(shown.stdout).toMatch(
      /^counter {2}Degraded {2}revision 2\nserving in 2 of 2 clusters, up to date in 0 of 2;/,
    );
    expect(shown.stdout).toMatch(/\ncloud +default +Degraded +\d+\/\d+ +0 /);
    const stackStatus = await run("status");
    expect([stackStatus.exitCode, stackStatus.stdout]).toEqual([
      1,
      expect.stringMatching(/\nDegraded: deployment counter is Degraded, version /),
    ]);
    const topology = await run("topology");
    expect(topology.stdout).toMatch(
      / {3}├─ function Counter\.add {2}Degraded {2}\d+\/\d+\n {3}├─ cluster cloud {2}Healthy/,
    );
    await eventually(
      async () => expect((await run("deployment history counter")).stdout).toMatch(/\n2 +\d+\w +Degraded +\d+\w /),
      LONG,
    );

    expect((await run("deployment rollback counter --to 1")).exitCode).toBe(0);
    expect((await run("wait counter")).exitCode).toBe(0);
    await eventually(async () => {
      const revisions = (await read("deployments/counter/revisions")) as readonly { readonly outcome: string }[];
      expect(revisions.map(({ outcome }) => outcome)).toEqual(["Running", "Degraded", "Running"]);
    }, LONG);
    expect(await read("deployments/counter/status")).toMatchObject({ condition: "Running", up_to_date_clusters: 2 });
    expect((await run("status")).exitCode).toBe(0);
  }, 300_000);

  test("is explained by the diff, also when only the package changed", async () => {
    const text = readFileSync(path.join(ROOT, "examples", "packages", "counter.yaml"), "utf8");
    const [packageFile, deployment] = [path.join(folder, "second.yaml"), path.join(folder, "plain.yaml")];
    writeFileSync(deployment, "key: plain\npackage_name: counter\nclass_key: Counter\ntarget_clusters: [edge]\n");
    expect((await run(`apply -f ${deployment} --wait`)).exitCode).toBe(0);
    writeFileSync(packageFile, text.replace("counter-add:1.0.0", "counter-add:2.0.0"));
    expect((await run(`apply -f ${packageFile} -f ${deployment} --wait`)).exitCode).toBe(0);
    const { stdout } = await run("deployment diff plain");
    expect(stdout).toMatch(/^revision 1 → 2\nRunning units:\n/);
    expect(stdout).toContain("  package_revision changed from 1 to 2\n");
    expect(stdout).toMatch(/container_image changed from "\S+:1\.0\.0" to "\S+:2\.0\.0"/);
    expect(stdout).toMatch(/\nAs written:\n {2}unchanged\n$/);
  }, 300_000);

  test("is Down when nothing serves: the first revision has a bad image", async () => {
    const file = path.join(folder, "broken.yaml");
    writeFileSync(file, readFileSync(deploymentFile("missing"), "utf8").replace("key: counter\n", "key: broken\n"));
    expect((await run(`apply -f ${file}`)).exitCode).toBe(0);
    await eventually(async () => expect((await statusOf("broken")).condition).toBe("Down"), LONG);
    const { exitCode, stdout } = await run("status");
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/\nUnhealthy: deployment broken is Down, /)]);
    await eventually(
      async () =>
        expect(await read("deployments/broken/revisions")).toMatchObject([
          { outcome: "Failed", outcome_at: expect.any(String) },
        ]),
      LONG,
    );
  }, 300_000);
});
