import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describeWith, eventually, startKubernetes, sweepSize, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isJsonArray, isJsonObject, type JsonObject } from "@oaas/kube-core";
import type { Resource } from "../src/controllers/objects/resources.ts";
import { SCENARIOS } from "../src/controllers/testing/all-scenarios.ts";
import { recordScenario, type Stage } from "../src/controllers/testing/scenario.ts";

const NAMESPACE = "scenarios";
const FOLDER = join(import.meta.dirname, "..", "src", "controllers", "testing", "recorded");
/** `RECORD_SCENARIOS=1` records the states instead of comparing them. */
const isRecording = process.env["RECORD_SCENARIOS"] === "1";

/** The cluster counts as idle after this time without changes. */
const QUIET_MS = 2500;

describeWith(["kubernetes", "etcd", "kwok"], "workload scenarios on the real controllers", () => {
  let cluster: KubernetesUnderTest;

  beforeAll(async () => {
    cluster = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 3 });
  });
  afterAll(async () => {
    await cluster.close();
  });

  const kubectl = async (args: readonly string[], stdin?: string): Promise<string> => {
    const result = await cluster.kubectl([...args], stdin === undefined ? {} : { stdin });
    if (result.exitCode !== 0) throw new Error(`kubectl ${args.join(" ")}: ${result.stderr}`);
    return result.stdout;
  };
  const resource = ({ group, resource: name }: Resource): string => (group === "" ? name : `${name}.${group}`);

  const list = async (kind: Resource): Promise<readonly JsonObject[]> => {
    const parsed: unknown = JSON.parse(await kubectl(["get", resource(kind), "-n", NAMESPACE, "-o", "json"]));
    const items = isJsonObject(parsed) ? parsed["items"] : undefined;
    return isJsonArray(items) ? items.filter(isJsonObject) : [];
  };

  const stage: Stage = {
    async apply({ apiVersion, kind }, object) {
      await kubectl(["create", "-n", NAMESPACE, "-f", "-"], JSON.stringify({ apiVersion, kind, ...object }));
    },
    async patch(kind, name, patch) {
      await kubectl(["patch", resource(kind), name, "-n", NAMESPACE, "--type=merge", "-p", JSON.stringify(patch)]);
    },
    async remove(kind, name) {
      await kubectl(["delete", resource(kind), name, "-n", NAMESPACE]);
    },
    async settle() {
      let [seen, since] = ["", Date.now()];
      await eventually(
        async () => {
          const now = await kubectl([
            "get",
            "pods,deployments,replicasets,statefulsets,daemonsets,jobs,endpointslices,poddisruptionbudgets,resourcequotas",
            "-n",
            NAMESPACE,
            "-o",
            "jsonpath={.items[*].metadata.resourceVersion}",
          ]);
          if (now !== seen) [seen, since] = [now, Date.now()];
          expect(Date.now() - since).toBeGreaterThan(QUIET_MS);
        },
        { timeoutMs: 60_000, what: "the cluster to become idle" },
      );
    },
    list,
  };

  // The recording depends only on the Kubernetes version: one scenario checks it, a sweep checks all.
  const selected = isRecording ? SCENARIOS : SCENARIOS.slice(0, sweepSize(1, SCENARIOS.length));

  test.each(selected)("$name", async (scenario) => {
    await kubectl(["create", "namespace", NAMESPACE]);
    const seen = await recordScenario(scenario, stage);
    await kubectl(["delete", "namespace", NAMESPACE, "--wait=true"]);
    const file = join(FOLDER, `${scenario.name}.txt`);
    if (isRecording) await writeFile(file, seen);
    expect(seen).toBe(await readFile(file, "utf8"));
  });
});
