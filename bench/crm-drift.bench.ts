import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { Informer } from "@oaas/kube-runtime";
import { CORE_CHILD_KINDS } from "../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { percentile, startLab, type CrmLab } from "./crm/lab.ts";
import { quiet, startManager } from "./crm/measured-manager.ts";
import { populate, standInForControllers } from "./crm/population.ts";
import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";

const CLASSES = Math.max(10, scaled(100));
const DRIFTS = scaled(200);
const MOST_MS = 1_000;
const PATIENCE_MS = 60_000;
const KINDS = ["Deployment", "Service", "ConfigMap"];
const LABEL = "oaas.io/owner";

/** Deletes or changes children one by one and measures the time to repair as seen by another client. */
export const bench: Bench = {
  name: "crm-drift",
  async run(log) {
    await using lab = await startLab();
    await using manager = await startManager(lab.kubeconfig);
    await manager.readyAt;
    await populate(lab, manager, CLASSES);
    await standInForControllers(lab, CLASSES);
    await quiet(manager);
    log(`${CLASSES} classes are available`);
    const deleted: number[] = [];
    const edited: number[] = [];
    for (const kind of KINDS) {
      const share = Math.ceil(DRIFTS / KINDS.length);
      const times = await driftsOf(lab, kind, share);
      deleted.push(...times.deleted);
      edited.push(...times.edited);
      log(`${kind}: ${share} drifts are repaired`);
    }
    const all = [...deleted, ...edited];
    const p99 = percentile(all, 0.99);
    const rows = [
      { name: "deleted", times: deleted },
      { name: "edited", times: edited },
    ];
    return {
      title: `${all.length} children of ${CLASSES} classes deleted or edited, and repaired, on a real API server`,
      measurements: rows.flatMap(({ name, times }) => [
        {
          name: `${name}: repaired after, p50`,
          value: percentile(times, 0.5),
          unit: "ms",
          note: "from the response to the change until another client sees the repair",
        },
        { name: `${name}: repaired after, p99`, value: percentile(times, 0.99), unit: "ms" },
      ]),
      ratios: [{ name: "time budget / p99", value: MOST_MS / p99, floor: 1, explains: `at most ${MOST_MS} ms` }],
    };
  },
};

async function driftsOf(
  lab: CrmLab,
  kind: string,
  count: number,
): Promise<{ readonly deleted: number[]; readonly edited: number[] }> {
  const type = CORE_CHILD_KINDS.find((one) => one.kind === kind);
  if (!type) throw new Error(`no kind ${kind}`);
  const api = lab.client.resource(type);
  const informer = new Informer<KubeObject>({
    name: kind,
    source: api.source({ labelSelector: LABEL }),
    ambient: realAmbient,
  });
  informer.start();
  await informer.synced();
  const children = [...informer.cache.list()];
  const deleted: number[] = [];
  const edited: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const child = children[Math.floor(index / 2) % children.length];
    if (!child) throw new Error(`no ${kind}`);
    const { namespace = "", name } = child.metadata;
    const present = informer.get({ namespace, name }) ?? child;
    if (index % 2 === 0) {
      const repaired = seen(informer, name, namespace, ({ metadata }) => metadata.uid !== present.metadata.uid);
      await api.delete({ namespace, name });
      deleted.push(await repaired(performance.now()));
    } else {
      const was = present.metadata.labels?.["app.kubernetes.io/managed-by"];
      const repaired = seen(
        informer,
        name,
        namespace,
        ({ metadata }) =>
          metadata.labels?.["app.kubernetes.io/managed-by"] === was && Number(metadata.resourceVersion) > edit,
      );
      let edit = Number.POSITIVE_INFINITY;
      const changed = await api.patch(
        { namespace, name },
        "merge",
        { metadata: { labels: { "app.kubernetes.io/managed-by": "someone" } } },
        { fieldManager: "kubectl-edit" },
      );
      edit = Number(changed.metadata.resourceVersion);
      edited.push(await repaired(performance.now()));
    }
  }
  await informer.stop();
  return { deleted, edited };
}

/** Starts a watch; the returned function waits for the repair and returns its delay from the given time. */
function seen(
  informer: Informer<KubeObject>,
  name: string,
  namespace: string,
  isRepaired: (object: Stored<KubeObject>) => boolean,
): (sinceMs: number) => Promise<number> {
  let seenAt: number | undefined;
  let notify = (): void => undefined;
  const stop = informer.onChange((change) => {
    const { object, type } = change;
    if (type === "deleted" || object.metadata.name !== name || object.metadata.namespace !== namespace) return;
    if (seenAt !== undefined || !isRepaired(object)) return;
    seenAt = performance.now();
    notify();
  });
  return async (sinceMs) => {
    const present = informer.get({ namespace, name });
    if (seenAt === undefined && present && isRepaired(present)) seenAt = performance.now();
    if (seenAt === undefined)
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${namespace}/${name} is not repaired`)), PATIENCE_MS);
        notify = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    stop();
    return Math.max(0, (seenAt ?? sinceMs) - sinceMs);
  };
}
