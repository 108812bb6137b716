import type { KubeObject } from "@oaas/kube-core";
import type { Informer, InformerView } from "./informer.ts";
import type { CacheReader } from "./store.ts";

/**
 * Several informers of one kind, one per namespace, read as one. A process that may read only some namespaces then
 * needs no cluster-wide permission. Objects of other namespaces are absent.
 */
export function mergedView<T extends KubeObject, I extends string>(
  byNamespace: ReadonlyMap<string, Informer<T, I>>,
): InformerView<T, I> {
  const all = [...byNamespace.values()];
  const cache: CacheReader<T, I> = {
    get: (key) => byNamespace.get(key.namespace)?.get(key),
    *list(namespace) {
      const chosen = namespace === undefined ? all : [byNamespace.get(namespace)];
      for (const informer of chosen) if (informer) yield* informer.cache.list();
    },
    byIndex: (index, value) => all.flatMap((informer) => informer.cache.byIndex(index, value)),
    get size() {
      return all.reduce((sum, informer) => sum + informer.cache.size, 0);
    },
  };
  return {
    cache,
    get isSynced() {
      return all.every(({ isSynced }) => isSynced);
    },
    get fault() {
      return all.find(({ fault }) => fault !== undefined)?.fault;
    },
    faultIn: (namespace) => byNamespace.get(namespace)?.fault,
    get: (key) => cache.get(key),
    onChange: (handler) => {
      const ends = all.map((informer) => informer.onChange(handler));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
