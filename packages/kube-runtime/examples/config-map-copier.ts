/**
 * A whole controller in one file: keeps copies of ConfigMaps in other namespaces.
 *
 * kubectl annotate configmap settings copier.example.com/copy-to=team-a,team-b
 *
 * Copies follow the original, are repaired after changes and deletions, and are deleted with the original or
 * the annotation.
 * Run it against any cluster: node packages/kube-runtime/examples/config-map-copier.ts [context]
 */
import { hostname } from "node:os";
import { realAmbient } from "@oaas/foundation/real";
import type { Ambient } from "@oaas/foundation";
import {
  annotationOf,
  formatObjectKey,
  keyOf,
  labelOf,
  parseObjectKey,
  refOf,
  type KubeObject,
  type ObjectKey,
  type Stored,
} from "@oaas/kube-core";
import {
  Controller,
  EventRecorder,
  fenced,
  InformerPool,
  KubeClient,
  LeaseElector,
  mapped,
  Manager,
  own,
  resourceType,
  settled,
  withFinalizer,
  type Outcome,
  type ReconcileContext,
  type Transport,
} from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const CONFIG_MAPS = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});
const COPY_TO = "copier.example.com/copy-to";
const COPY_OF = "copier.example.com/copy-of";
const IS_COPY = "copier.example.com/is-copy";
const FINALIZER = "copier.example.com/copies";

/** Builds the controller process: nothing runs before `manager.start()`. */
export function createCopier(transport: Transport, ambient: Ambient, identity: string): Manager {
  const client = new KubeClient({ transport, ambient });
  const lease = { namespace: "default", name: "config-map-copier" };
  const elector = new LeaseElector({ client, ambient, lease, identity });
  // Copies are written only while this process leads. A frozen process that has lost its lease is fenced.
  const api = new KubeClient({ transport: fenced(transport, () => elector.isLeading), ambient }).resource(CONFIG_MAPS);
  const informers = new InformerPool(client, { ambient });
  const configMaps = informers.informer(
    CONFIG_MAPS,
    {},
    {
      indexes: { copyOf: (object: Stored<ConfigMap>) => [annotationOf(object, COPY_OF) ?? ""].filter(Boolean) },
    },
  );
  const events = new EventRecorder({
    client,
    ambient,
    controller: "copier.example.com/config-map-copier",
    instance: identity,
  });

  async function reconcile(key: ObjectKey, { signal }: ReconcileContext): Promise<Outcome> {
    const original = configMaps.get(key);
    if (!original || labelOf(original, IS_COPY) === "true") return settled();
    const targets = targetsOf(original);
    const copies = configMaps.cache.byIndex("copyOf", formatObjectKey(key));
    const surplus = copies.filter((copy) => !targets.includes(copy.metadata.namespace ?? ""));
    if (targets.length === 0 && copies.length === 0 && !original.metadata.finalizers?.includes(FINALIZER))
      return settled();
    const result = await withFinalizer<ConfigMap, Outcome>(
      api,
      original,
      FINALIZER,
      {
        apply: async () => {
          await Promise.all(surplus.map((copy) => api.delete(keyOf(copy), { uid: copy.metadata.uid, signal })));
          const stale = targets.filter(
            (namespace) => !isCurrent(configMaps.get({ namespace, name: key.name }), original),
          );
          await Promise.all(
            stale.map((namespace) =>
              api.apply(copyFor(original, namespace), { fieldManager: "config-map-copier", force: true, signal }),
            ),
          );
          if (stale.length > 0) {
            events.record({
              type: "Normal",
              reason: "Copied",
              action: "Copy",
              note: `copied to ${stale.join(", ")}`,
              regarding: refOf(original),
            });
          }
          return settled();
        },
        cleanUp: async () => {
          await Promise.all(copies.map((copy) => api.delete(keyOf(copy), { uid: copy.metadata.uid, signal })));
          return copies.length === 0 ? "clean" : settled();
        },
      },
      { signal },
    );
    return result ?? settled();
  }

  return new Manager({
    ambient,
    informers,
    elector,
    controllers: () => [
      new Controller({
        name: "config-map-copier",
        ambient,
        reconcile,
        sources: [
          own(configMaps),
          mapped(configMaps, (copy) => {
            const original = parseObjectKey(annotationOf(copy, COPY_OF) ?? "");
            return original.ok ? [original.value] : [];
          }),
        ],
      }),
    ],
  });
}

function targetsOf(original: Stored<ConfigMap>): string[] {
  const annotation = annotationOf(original, COPY_TO) ?? "";
  return annotation
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== original.metadata.namespace);
}

function copyFor(original: Stored<ConfigMap>, namespace: string): ConfigMap {
  const { data, binaryData } = original;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: original.metadata.name,
      namespace,
      labels: { [IS_COPY]: "true" },
      annotations: { [COPY_OF]: formatObjectKey(keyOf(original)) },
    },
    ...(data ? { data } : {}),
    ...(binaryData ? { binaryData } : {}),
  };
}

function isCurrent(copy: Stored<ConfigMap> | undefined, original: Stored<ConfigMap>): boolean {
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? {}) === JSON.stringify(b ?? {});
  return (
    copy !== undefined &&
    same(copy.data, original.data) &&
    same(copy.binaryData, original.binaryData) &&
    labelOf(copy, IS_COPY) === "true"
  );
}

if (process.argv[1] === import.meta.filename) {
  const context = process.argv[2];
  const access = loadAccess({ env: process.env, ...(context === undefined ? {} : { context }) });
  const transport = createUndiciTransport(access, realAmbient);
  const manager = createCopier(transport, realAmbient, `${hostname()}-${process.pid}`);
  manager.start();
  console.log(`copying on ${access.server} (${access.origin}); Ctrl-C stops`);
  const stop = (): void => void manager.stop().then(() => transport.close());
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}
