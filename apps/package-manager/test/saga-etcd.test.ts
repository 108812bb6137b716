import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { describeWith, startEtcd, sweepSize, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll } from "vitest";
import type { WorldStore } from "./fakes/deployment-world.ts";
import { describeSaga, someOf } from "./saga-checks.ts";
import { SCENARIOS } from "./saga-scenarios.ts";

/** A gate that stays closed would take its real time. */
const taken = SCENARIOS.filter(({ name }, index) => !name.includes("gate") && index % sweepSize(3, 1) === 0);

describeWith(["etcd"], "sagas on etcd", () => {
  let etcd: EtcdUnderTest;
  let spaces = 0;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.close());

  const openStore = async (): Promise<WorldStore> => {
    spaces += 1;
    const options = { ambient: realAmbient, endpoints: etcd.endpoints, keyPrefix: `/oaas/sagas/${spaces}/` };
    return {
      ambient: realAmbient,
      connect: async () => openEtcdStore(options),
      leaseMs: 2_000,
      turns: 1,
      dispose: async () => undefined,
    };
  };

  for (const scenario of taken) {
    describeSaga(scenario, {
      openStore,
      points: sweepSize(0, 1) === 0 ? (count) => [Math.ceil(count / 2)] : someOf,
      isConcurrent: true,
    });
  }
});
