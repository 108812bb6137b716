import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openMemoryStore } from "@oaas/storage/memory";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { describeWith, makeRunFolder, startEtcd, sweepSize, type EtcdUnderTest, type RunFolder } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import {
  echoPackage,
  retryWhileLeaseLost,
  startPm,
  storeContents,
  type Answer,
  type PmUnderTest,
} from "./running-pm.ts";

const ambient = realAmbient;

/** Few names, so that documents of a set, and of earlier sets, refer to each other. */
const PACKAGES = ["p0", "p1", "p2", "p3"];
const packageName = fc.constantFrom(...PACKAGES);

const packageDocument = fc
  .record({
    name: packageName,
    version: fc.constantFrom("1", "2", "3"),
    dependencies: fc.uniqueArray(fc.constantFrom(...PACKAGES, "missing"), { maxLength: 2 }),
    maxScale: fc.constantFrom(undefined, undefined, 1, 2),
    functionKey: fc.constantFrom("echo", "echo", "echo", "gone"),
    disabled: fc.constantFrom(false, false, false, true),
  })
  .map(({ name, version, dependencies, maxScale, functionKey, disabled }) => ({
    package: echoPackage(name, {
      version,
      // Mostly without dependencies, or nearly every set would be rejected.
      dependencies: dependencies.length === 2 ? [] : dependencies,
      disabled,
      functions: [{ key: functionKey, provision_config: { container_image: "echo:1", max_scale: maxScale } }],
    }),
  }));

const deploymentDocument = fc
  .record({
    key: fc.constantFrom("d0", "d1", "d2"),
    package_name: fc.constantFrom(...PACKAGES, ...PACKAGES, "missing"),
    class_key: fc.constantFrom("Echo", "Echo", "Echo", "Ecko"),
    target_clusters: fc.constantFrom([], ["east"], ["east", "west"], ["east", "nowhere"]),
    nfr_requirements: fc.constantFrom({}, {}, { min_throughput_rps: 100_000 }, { availability: 0.999999999 }),
    odgm: fc.constantFrom(undefined, { log: "info" }, { log: "debug" }),
    plan_digest: fc.constantFrom(undefined, undefined, undefined, "outdated"),
  })
  .map((deployment) => ({ deployment }));

/** Anything: nearly every such set is rejected. */
const wildSet: fc.Arbitrary<readonly object[]> = fc.array(fc.oneof(packageDocument, deploymentDocument), {
  minLength: 1,
  maxLength: 6,
});

/** Packages that depend on earlier ones and deployments of them: accepted unless state of before stands in the way. */
const plausibleSet: fc.Arbitrary<readonly object[]> = fc
  .record({
    versions: fc.array(fc.constantFrom("1", "2", "3"), { minLength: 4, maxLength: 4 }),
    chained: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    deployments: fc.uniqueArray(
      fc.record({
        key: fc.constantFrom("d0", "d1", "d2"),
        package_name: packageName,
        class_key: fc.constant("Echo"),
        target_clusters: fc.constantFrom([], ["east"], ["east", "west"]),
        functions: fc.constantFrom([], [{ function_key: "echo", config: { A: "1" } }]),
      }),
      { selector: ({ key }) => key },
    ),
  })
  .chain(({ versions, chained, deployments }) => {
    const packages = PACKAGES.map((name, index) => ({
      package: echoPackage(name, {
        version: versions[index],
        dependencies: chained[index] && index > 0 ? [PACKAGES[index - 1]] : [],
      }),
    }));
    const documents = [...packages, ...deployments.map((deployment) => ({ deployment }))];
    return fc.shuffledSubarray(documents, { minLength: documents.length, maxLength: documents.length });
  });

const documentSet = fc.oneof(wildSet, plausibleSet);

describeWith(["etcd"], "sets of documents on every store", () => {
  let folder: RunFolder;
  let etcd: EtcdUnderTest;
  beforeAll(async () => {
    [folder, etcd] = await Promise.all([makeRunFolder("pm-sets"), startEtcd()]);
  });
  afterAll(async () => {
    await etcd.close();
    await folder.remove();
  });

  const STORES: readonly { readonly name: string; readonly runs: number; readonly open: () => KeyValueStore }[] = [
    { name: "memory", runs: 150, open: () => openMemoryStore({ ambient }) },
    { name: "sqlite", runs: 60, open: () => openSqliteStore({ ambient, file: path.join(folder.path, "pm.db") }) },
    {
      name: "etcd",
      runs: 40,
      open: () => openEtcdStore({ ambient, endpoints: etcd.endpoints, keyPrefix: "/oaas/sets/" }),
    },
  ];

  describe.each(STORES)("$name", ({ open, runs }) => {
    let store: KeyValueStore;
    let crms: readonly ScriptedCrm[];
    let pm: PmUnderTest;
    beforeAll(async () => {
      store = open();
      crms = await Promise.all(["east", "west"].map((name) => ScriptedCrm.start({ name })));
      const clusters = Object.fromEntries(crms.map((crm) => [crm.facts.name, crm.url]));
      // Nothing but requests writes.
      const env = { DEPLOY_WAIT: "20s", DEPLOY_RECONCILE_INTERVAL: "1h", PLANNER_MAX_REPLICAS: "3" };
      pm = await startPm({ store, clusters, env });
    });
    afterAll(async () => {
      await pm.close();
      await store.close();
      await Promise.all(crms.map((crm) => crm.close()));
    });

    const send = (documents: readonly object[], query: string): Promise<Answer> =>
      retryWhileLeaseLost(() => pm.call("POST", `/api/v1/apply${query}`, { body: { documents } }));
    const isAccepted = ({ status }: Answer): boolean => status < 300;

    test("a dry run accepts exactly the sets that apply accepts, and a rejected set changes nothing", async () => {
      const seen = { accepted: 0, rejected: 0 };
      await fc.assert(
        fc.asyncProperty(documentSet, fc.nat(), async (documents, turn) => {
          const before = await storeContents(store);
          const dryRun = await send(documents, "?dry_run=true");
          const at = turn % documents.length;
          const turned = [...documents.slice(at), ...documents.slice(0, at)].toReversed();
          const reordered = await send(turned, "?dry_run=true");
          expect(isAccepted(reordered), "independent of the order").toBe(isAccepted(dryRun));
          expect(await storeContents(store), "a dry run writes nothing").toEqual(before);
          const applied = await send(documents, "");
          expect(isAccepted(applied), `${dryRun.text}\n${applied.text}`).toBe(isAccepted(dryRun));
          expect(applied.status, applied.text).not.toBe(500);
          if (isAccepted(applied)) {
            seen.accepted += 1;
            const statuses = (answer: Answer) => answer.json.documents.map((each: { status: string }) => each.status);
            expect(statuses(applied)).toEqual(statuses(dryRun));
          } else {
            seen.rejected += 1;
            expect(applied.json.error).toBe(dryRun.json.error);
            expect(await storeContents(store), "a rejected set writes nothing").toEqual(before);
          }
        }),
        { numRuns: sweepSize(runs, runs * 20) },
      );
      expect(seen.accepted, "not vacuous").toBeGreaterThan(runs / 10);
      expect(seen.rejected, "not vacuous").toBeGreaterThan(runs / 10);
    });

    test("concurrent sets are applied one after the other", async () => {
      const set = (tag: number) => [
        { package: echoPackage("race", { version: String(tag) }) },
        ...["r0", "r1"].map((key) => ({
          deployment: {
            key,
            package_name: "race",
            class_key: "Echo",
            target_clusters: ["east"],
            odgm: { log: String(tag) },
          },
        })),
      ];
      const answers = await Promise.all([1, 2, 3, 4].map((tag) => send(set(tag), "")));
      expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
      const { json: last } = await pm.call("GET", "/api/v1/packages/race");
      for (const key of ["r0", "r1"]) {
        const { json } = await pm.call("GET", `/api/v1/deployments/${key}`);
        expect(json.odgm.log, key).toBe(last.version);
      }
    });
  });
});
