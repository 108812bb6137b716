import { LEASES, type KubeClient } from "@oaas/kube-runtime";
import {
  describeOnTarget,
  eventually,
  makeRunFolder,
  sweepSize,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLASS_RUNTIMES } from "../src/controller/kinds/resource-types.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";
import { applyClass, createNamespace, adminClient } from "./support/namespace-snapshot.ts";

const NAMESPACE = "classes";

describeOnTarget("two managers with a frozen leader", {}, () => {
  let cluster: KubernetesUnderTest;
  let folder: RunFolder;
  let client: KubeClient;
  const managers = new Map<string, ManagerProcess>();

  beforeAll(async () => {
    cluster = await startClassCluster();
    folder = await makeRunFolder("frozen-leader");
    client = adminClient(cluster);
    await createNamespace(client, NAMESPACE);
    for (const name of ["one", "two"]) {
      const env = {
        OPRC_CRM_K8S_NAMESPACE: NAMESPACE,
        OPRC_CRM_FEATURES_LEADER_ELECTION: "true",
        OPRC_CRM_LEADER_ELECTION_LEASE_SECS: "3",
        OPRC_CRM_LEADER_ELECTION_IDENTITY: name,
      };
      managers.set(name, await startManagerProcess(cluster.kubeconfig, folder.path, env));
    }
  });
  afterAll(async () => {
    for (const manager of managers.values()) {
      manager.process.signal("SIGCONT");
      await manager.process.stop(0);
    }
    await client.close();
    await cluster.close();
    await folder.remove();
  });

  const leader = async (): Promise<string> => {
    const { items } = await client.resource(LEASES).list({ namespace: NAMESPACE });
    return items[0]?.spec?.holderIdentity ?? "";
  };

  const timesLost = async (name: string): Promise<number> => {
    const log = (await managers.get(name)?.log()) ?? [];
    return log.filter(({ message }) => message === "leadership ended").length;
  };

  const versions = async (): Promise<readonly string[]> => {
    const { items } = await client.resource(CLASS_RUNTIMES).list({ namespace: NAMESPACE });
    return items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  };

  test(
    "the other manager takes over, and the resumed one writes nothing",
    async () => {
      await eventually(async () => managers.has(await leader()), { what: "a leader" });
      for (let round = 0; round < sweepSize(2, 10); round += 1) {
        const frozen = await leader();
        const lostBefore = await timesLost(frozen);
        managers.get(frozen)?.process.signal("SIGSTOP");
        const name = `class-${round}`;
        await applyClass(client, NAMESPACE, name, { functions: { a: "1", b: "1" }, template: "dev" });
        await eventually(async () => ![frozen, ""].includes(await leader()), {
          what: "the other manager to become leader",
        });
        await eventually(
          async () => {
            const { metadata, status } = await client.resource(CLASS_RUNTIMES).get({ namespace: NAMESPACE, name });
            return status?.observedGeneration === metadata.generation;
          },
          { timeoutMs: 60_000, what: `${name} to be reconciled by the other manager` },
        );
        const before = await versions();
        managers.get(frozen)?.process.signal("SIGCONT");
        // The resumed manager responds and detects the lost leadership.
        const port = managers.get(frozen)?.port;
        await eventually(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200);
        await eventually(async () => (await timesLost(frozen)) > lostBefore, {
          what: "the resumed manager to detect the lost leadership",
        });
        expect(await versions()).toEqual(before);
      }
    },
    sweepSize(180_000, 900_000),
  );
});
