import { hashJson } from "@oaas/foundation/hash";
import { sweepSize } from "@oaas/testkit";
import { expect, test } from "vitest";
import { garbageCollector, namespaceController, workloadSimulation } from "../index.ts";
import { DEPLOYMENTS, JOBS, NODES, PODS, STATEFUL_SETS } from "../objects/resources.ts";
import { deployment, Lab, template, type TestServer } from "../testing/lab.ts";

/** All changes of a busy minute as one hash. */
async function minute(ground: TestServer, seed: number): Promise<string> {
  const lab = await Lab.on(ground, seed);
  const simulation = workloadSimulation(lab.ports, { nodes: 3 });
  await lab.start(garbageCollector(lab.ports), namespaceController(lab.ports), simulation);
  await lab.create(DEPLOYMENTS, deployment("web", { replicas: 4 }));
  await lab.create(STATEFUL_SETS, {
    metadata: { name: "db", namespace: "default" },
    spec: {
      replicas: 2,
      serviceName: "db",
      selector: { matchLabels: { app: "db" } },
      template: template("example.test/db:1", { app: "db" }),
    },
  });
  await lab.pass(2000);
  const job = template("example.test/job:1", { app: "job" }) as { spec: object };
  await lab.create(JOBS, {
    metadata: { name: "job", namespace: "default" },
    spec: { completions: 2, template: { ...job, spec: { ...job.spec, restartPolicy: "Never" } } },
  });
  simulation.fail({ selector: { matchLabels: { app: "db" } }, failure: { kind: "crash-loop" } });
  await simulation.loseNode("node-1");
  await lab.pass(60_000);
  await lab.cluster.delete(NODES, { name: "node-2" }, {});
  await lab.cluster.delete(DEPLOYMENTS, { namespace: "default", name: "web" }, { propagation: "Foreground" });
  await lab.pass(60_000);
  expect(lab.cluster.list(PODS).length).toBeGreaterThan(0);
  return hashJson(lab.history);
}

test.each(Array.from({ length: sweepSize(1, 50) }, (_, seed) => seed))(
  "seed %i gives the same trace twice, byte for byte",
  async (seed) => {
    const first = await minute("server", seed);
    expect(await minute("server", seed)).toBe(first);
    expect(await minute("server", seed + 1000)).not.toBe(first);
  },
);
