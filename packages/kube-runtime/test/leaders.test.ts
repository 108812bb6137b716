import { realAmbient } from "@oaas/foundation/real";
import {
  describeWith,
  eventually,
  makeRunFolder,
  startKubernetes,
  startProcess,
  sweepSize,
  type KubernetesUnderTest,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Informer } from "../src/cache/informer.ts";
import type { KubeClient } from "../src/client/kube-client.ts";
import { LeaseElector } from "../src/leader/lease-elector.ts";
import { LEASES } from "../src/leader/lease.ts";
import { CONFIG_MAPS, configMap, realClient, type ConfigMap } from "./real-client.ts";

/** A write with its position in the total order of writes. */
interface Written {
  readonly revision: number;
  readonly what: "lease" | "work";
  readonly by: string;
}

describeWith(["kubernetes"], "leader election on a real API server", () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let folder: RunFolder;

  beforeAll(async () => {
    cluster = await startKubernetes();
    client = realClient(cluster);
    folder = await makeRunFolder("leaders");
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
    await folder.remove();
  });

  const startLeader = (identity: string): Promise<ProcessUnderTest> =>
    startProcess({
      name: identity,
      command: process.execPath,
      args: [join(import.meta.dirname, "programs/leader.ts"), cluster.kubeconfig, identity, "contested", "work"],
      cwd: folder.path,
      logFile: join(folder.path, `${identity}.log`),
    });

  test("two processes that are repeatedly frozen for longer than the lease never act at once", async () => {
    const rounds = sweepSize(3, 20);
    await client.resource(CONFIG_MAPS).create(configMap("default", "work", {}));
    const written: Written[] = [];
    const works = new Informer<ConfigMap>({
      name: "work",
      ambient: realAmbient,
      source: client.resource(CONFIG_MAPS).source({ namespace: "default", fieldSelector: "metadata.name=work" }),
    });
    const leases = new Informer({
      name: "lease",
      ambient: realAmbient,
      source: client.resource(LEASES).source({ namespace: "default", fieldSelector: "metadata.name=contested" }),
    });
    works.onChange(({ object: { metadata, data } }) =>
      written.push({ revision: Number(metadata.resourceVersion), what: "work", by: data?.["by"] ?? "" }),
    );
    leases.onChange(({ object: { metadata, spec } }) =>
      written.push({ revision: Number(metadata.resourceVersion), what: "lease", by: spec?.holderIdentity ?? "" }),
    );
    for (const informer of [works, leases]) informer.start();
    // Before any worker starts: writes before the first read are not observed.
    await Promise.all([works, leases].map((informer) => informer.synced()));
    const worker = (): string => works.get({ namespace: "default", name: "work" })?.data?.["by"] ?? "";

    const leaders = new Map([
      ["one", await startLeader("one")],
      ["two", await startLeader("two")],
    ]);
    await eventually(() => worker() !== "", { what: "a leader" });
    for (let round = 0; round < rounds; round += 1) {
      const frozen = worker();
      leaders.get(frozen)?.signal("SIGSTOP");
      await eventually(() => worker() !== frozen, { what: "the other to take over" });
      leaders.get(frozen)?.signal("SIGCONT");
      const seen = written.length;
      await eventually(() => written.length > seen + 20, { what: "work to continue" });
    }
    for (const leader of leaders.values()) await leader.stop();
    for (const informer of [works, leases]) await informer.stop();

    let holder = "";
    const wrong = written
      .toSorted((a, b) => a.revision - b.revision)
      .filter(({ what, by }) => {
        if (what === "lease") holder = by;
        return what === "work" && by !== "" && by !== holder && holder !== "";
      });
    expect(wrong).toEqual([]);
    expect(new Set(written.filter(({ what }) => what === "work").map(({ by }) => by))).toEqual(
      new Set(["", "one", "two"]),
    );
    expect(written.filter(({ what }) => what === "lease").length).toBeGreaterThan(rounds);
  }, 300_000);

  test("a released lease goes to the other process at its next poll, in this order", async () => {
    const key = { namespace: "default", name: "handed-over" };
    const make = (identity: string): LeaseElector =>
      new LeaseElector({ client, ambient: realAmbient, lease: key, identity, leaseMs: 60_000 });
    const [first, second] = [make("first"), make("second")];
    const holders: string[] = [];
    const leases = new Informer({
      name: "lease",
      ambient: realAmbient,
      source: client.resource(LEASES).source({ namespace: "default", fieldSelector: "metadata.name=handed-over" }),
    });
    leases.onChange(({ object }) => {
      const holder = object.spec?.holderIdentity ?? "";
      if (holder !== holders.at(-1)) holders.push(holder);
    });
    leases.start();
    first.start();
    await first.leading();
    second.start();
    await eventually(() => second.leader === "first");
    await first.stop();
    expect(first.isLeading).toBe(false);
    // Without the release, the lease would be held for a minute.
    await second.leading(AbortSignal.timeout(20_000));
    await eventually(() => holders.length === 3);
    expect(holders).toEqual(["first", "", "second"]);
    expect((await client.resource(LEASES).get(key)).spec).toMatchObject({
      leaseDurationSeconds: 60,
      leaseTransitions: 1,
    });
    await second.stop();
    await leases.stop();
  });
});
