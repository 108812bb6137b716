import { realAmbient } from "@oaas/foundation/real";
import { formatObjectKey, keyOf } from "@oaas/kube-core";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { createUndiciTransport } from "../src/adapters/index.ts";
import { Informer } from "../src/cache/informer.ts";
import type { ClusterAccess } from "../src/client/access.ts";
import { KubeClient } from "../src/client/kube-client.ts";
import type { ResourceClient } from "../src/client/resource-client.ts";
import type { WatcherOptions } from "../src/watch/watcher.ts";
import { CONFIG_MAPS, type ConfigMap } from "./real-client.ts";

/**
 * An informer of ConfigMaps over some connection, and the objects according to a handler that only receives changes.
 */
export interface Followed {
  readonly informer: Informer<ConfigMap>;
  readonly client: KubeClient;
  /** The number of watch failures so far, for any reason. */
  failures(): number;
  /** Waits until cache and observer match the server, read over a direct connection. */
  caughtUp(straight: ResourceClient<ConfigMap>, timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

/** Short timeouts, so that tests see in seconds what takes minutes in a cluster. */
const IMPATIENT = { silenceMs: 2_000, backoff: { baseMs: 20, capMs: 500, factor: 2, jitter: 0.5 } };

/** A client with the defaults. */
export function clientOf(access: ClusterAccess): KubeClient {
  return new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
}

/** Starts an informer of the ConfigMaps of one namespace. */
export function follow(
  access: ClusterAccess,
  namespace: string,
  watch: Pick<WatcherOptions<unknown>, "silenceMs" | "watchSeconds" | "streamingList"> = {},
): Followed {
  const client = clientOf(access);
  const meter = createRecordingMeter();
  const informer = new Informer<ConfigMap>({
    name: "followed",
    source: client.resource(CONFIG_MAPS).source({ namespace }),
    ambient: realAmbient,
    meter,
    watch: { ...IMPATIENT, ...watch },
  });
  const observed = new Map<string, string>();
  informer.onChange(({ type, object }) => {
    const key = formatObjectKey(keyOf(object));
    if (type === "deleted") observed.delete(key);
    else observed.set(key, object.metadata.resourceVersion);
  });
  informer.start();
  return {
    informer,
    client,
    failures: () =>
      ["broken", "silent", "expired"]
        .map((reason) => meter.value("kube_informer_restarts_total", { informer: "followed", reason }) ?? 0)
        .reduce((sum, count) => sum + count),
    caughtUp: async (straight, timeoutMs = 60_000) => {
      const { items } = await straight.list({ namespace });
      const expected = versions(items);
      await eventually(
        () => {
          const cached = versions([...informer.cache.list()]);
          const seen = JSON.stringify([...observed].toSorted(byKey));
          if (cached !== expected || seen !== expected)
            throw new Error(`expected ${expected}, cached ${cached}, seen ${seen}`);
        },
        { timeoutMs, what: "the informer to catch up" },
      );
    },
    close: async () => {
      await informer.stop();
      await client.close();
    },
  };
}

function versions(
  items: readonly {
    readonly metadata: { readonly namespace?: string; readonly name: string; readonly resourceVersion: string };
  }[],
): string {
  return JSON.stringify(
    items.map((item) => [formatObjectKey(keyOf(item)), item.metadata.resourceVersion] as const).toSorted(byKey),
  );
}

function byKey(a: readonly [string, string], b: readonly [string, string]): number {
  return a[0] < b[0] ? -1 : 1;
}
