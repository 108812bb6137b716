import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { describeWith, startEtcd, sweepSize, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll } from "vitest";
import type { FixtureStore } from "./fakes/deployment-fixture.ts";
import { describeSaga, someOf } from "./saga-checks.ts";
import { SCENARIOS } from "./saga-scenarios.ts";

/** Scenarios with a closed gate would take the full gate timeout. */
const taken = SCENARIOS.filter(({ name }, index) => !name.includes("gate") && index % sweepSize(3, 1) === 0);

describeWith(["etcd"], "sagas on etcd", () => {
  let etcd: EtcdUnderTest;
  let spaces = 0;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd?.close());

  const openStore = async (): Promise<FixtureStore> => {
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
