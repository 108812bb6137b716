import type { Clock } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { decodeHistory, EMPTY_HISTORY, encodeHistory } from "../../availability/availability-history.ts";
import type { HistoryStore } from "../../availability/availability-recorder.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const CONFIG_MAPS = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});

const KEY = "history.json";

/**
 * Stores the history in a ConfigMap of at most a few kilobytes. A text that cannot be read counts as empty, and the next
 * write replaces it: a history that someone edited must not stop the measurement.
 */
export function createKubeAvailabilityStore(
  client: KubeClient,
  key: { readonly namespace: string; readonly name: string },
  clock: Clock,
): HistoryStore {
  const maps = client.resource(CONFIG_MAPS);
  return {
    load: async (signal) => {
      const found = await maps.find(key, { signal });
      if (found === undefined) return { history: EMPTY_HISTORY };
      const history = decodeHistory(found.data?.[KEY] ?? "", clock.now()) ?? EMPTY_HISTORY;
      return { history, version: found.metadata.resourceVersion };
    },
    save: async (history, version, signal) => {
      const object: ConfigMap = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          ...key,
          labels: { "app.kubernetes.io/managed-by": "oprc-crm" },
          ...(version === undefined ? {} : { resourceVersion: version }),
        },
        data: { [KEY]: encodeHistory(history) },
      };
      await (version === undefined ? maps.create(object, { signal }) : maps.update(object, { signal }));
    },
  };
}
