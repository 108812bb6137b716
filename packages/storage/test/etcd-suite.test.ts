import { describeKeyValueStore } from "@oaas/storage/testing";
import { describeWith, startEtcd, sweepSize, type EtcdOptions, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll } from "vitest";
import { storeUnderTest } from "./etcd-under-suite.ts";

const CLUSTERS: { name: string; component: "etcd" | "etcd34"; options: EtcdOptions }[] = [
  { name: "etcd 3.6", component: "etcd", options: {} },
  { name: "etcd 3.4", component: "etcd34", options: { version: "3.4" } },
  { name: "etcd 3.6 with TLS, client certificates and users", component: "etcd", options: { tls: true, auth: true } },
  { name: "etcd 3.6, three members", component: "etcd", options: { members: 3 } },
];

for (const { name, component, options } of CLUSTERS) {
  describeWith([component], name, () => {
    let etcd: EtcdUnderTest;
    beforeAll(async () => {
      etcd = await startEtcd(options);
    });
    afterAll(() => etcd?.close());

    describeKeyValueStore(name, {
      modelRuns: sweepSize(15, 300),
      leaseMs: 2000,
      hidesSize: options.auth === true,
      open: () => storeUnderTest(etcd),
    });
  });
}
