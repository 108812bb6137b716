import { setTimeout } from "node:timers/promises";
import { realAmbient } from "@oaas/foundation/real";
import type { KeyValueStore } from "@oaas/storage";
import { openEtcdStore, type EtcdStoreOptions } from "@oaas/storage/etcd";
import type { StoreUnderTest } from "@oaas/storage/testing";
import type { EtcdUnderTest } from "@oaas/testkit";

let spaces = 0;

/** Options for an etcd under test as the user pm, with a separate key prefix. */
export function storeOptions(etcd: EtcdUnderTest, keyPrefix = "/oaas/test/"): EtcdStoreOptions {
  return {
    ambient: realAmbient,
    endpoints: etcd.endpoints,
    keyPrefix,
    ...(etcd.auth === undefined ? {} : { auth: etcd.auth }),
    ...(etcd.tls === undefined ? {} : { tls: etcd.tls }),
  };
}

/** Returns an empty store: a separate prefix in an etcd that several tests share. */
export async function storeUnderTest(etcd: EtcdUnderTest): Promise<StoreUnderTest> {
  spaces += 1;
  const options = storeOptions(etcd, `/oaas/suite/${spaces}/`);
  const clients: KeyValueStore[] = [];
  const connect = async (): Promise<KeyValueStore> => {
    const client = openEtcdStore(options);
    clients.push(client);
    return client;
  };
  return {
    store: await connect(),
    connect,
    elapse: (ms) => setTimeout(ms),
    dispose: async () => {
      for (const client of clients) await client.close();
    },
  };
}
