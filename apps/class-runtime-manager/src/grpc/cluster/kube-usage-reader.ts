import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ComponentUsageSchema } from "@oaas/contracts/grpc";
import { failedPrecondition, Fault, isFault, orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import type { StoredClass } from "../../classes/ports.ts";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { OWNER_LABEL, ownerLabelValue } from "../../templates/index.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import { usageOfClass, type PodMetrics } from "./usage.ts";

/** Reads the present usage of all components of all classes. */
export type UsageReader = (signal: AbortSignal) => Promise<readonly MessageInitShape<typeof ComponentUsageSchema>[]>;

export interface KubeUsageReaderOptions {
  readonly client: Pick<KubeClient, "resource">;
  readonly ambient: Ambient;
  readonly namespaces: Pick<NamespaceRules, "served">;
  readonly classes: () => Iterable<StoredClass>;
  readonly podsOf: (namespace: string, ownerLabel: string) => readonly Pod[];
}

const POD_METRICS = resourceType<KubeObject & PodMetrics>({
  group: "metrics.k8s.io",
  version: "v1beta1",
  kind: "PodMetrics",
  resource: "pods",
  namespaced: true,
  isVersioned: false,
});

/** Metrics servers measure every 15 s or less often. */
const TTL_MS = 5_000;
const TIMEOUT_MS = 10_000;

/**
 * Reads usage from the metrics API: one list for the cluster, or one for each served namespace that has classes.
 * Concurrent and frequent callers share one reading. Throws failed-precondition while the cluster has no metrics API.
 */
export function createKubeUsageReader(options: KubeUsageReaderOptions): UsageReader {
  const { ambient } = options;
  let last: { readonly of: ReturnType<UsageReader>; readonly atMs: number } | undefined;
  return (signal) => {
    const nowMs = ambient.clock.monotonic();
    if (last === undefined || nowMs - last.atMs >= TTL_MS) last = { of: readInTime(options), atMs: nowMs };
    return orAbort(last.of, signal);
  };
}

async function readInTime(options: KubeUsageReaderOptions): ReturnType<UsageReader> {
  using deadline = startDeadline(options.ambient, TIMEOUT_MS);
  const { classes, namespaces, podsOf } = options;
  const all = [...classes()];
  const places =
    namespaces.served === "all" ? [undefined] : [...new Set(all.map(({ metadata }) => metadata.namespace))];
  try {
    const pages = await Promise.all(places.map((namespace) => listMetrics(options, namespace, deadline.signal)));
    const metrics = new Map(pages.flat());
    return all.flatMap((object) => {
      const { namespace, name } = object.metadata;
      return usageOfClass(object, podsOf(namespace, ownerLabelValue(name)), (pod) =>
        metrics.get(`${namespace}/${pod}`),
      );
    });
  } catch (thrown) {
    throw usageFault(Fault.from(thrown));
  }
}

async function listMetrics(
  { client }: KubeUsageReaderOptions,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly (readonly [string, PodMetrics])[]> {
  const query = { labelSelector: OWNER_LABEL, ...(namespace === undefined ? {} : { namespace }) };
  const found: (readonly [string, PodMetrics])[] = [];
  for await (const { metadata, timestamp, containers } of client.resource(POD_METRICS).listAll(query, { signal })) {
    const metrics = { ...(timestamp === undefined ? {} : { timestamp }), ...(containers ? { containers } : {}) };
    found.push([`${metadata.namespace ?? ""}/${metadata.name}`, metrics]);
  }
  return found;
}

function usageFault(fault: Fault): Fault {
  const what = "the usage of pods";
  if (isFault(fault, "not-found")) {
    return failedPrecondition(
      what,
      "the cluster does not serve the metrics API (metrics.k8s.io): install metrics-server in it",
      { cause: fault },
    );
  }
  if (isFault(fault, "permission-denied")) {
    return failedPrecondition(
      what,
      "the manager may not list pods of metrics.k8s.io: apply the ClusterRole oprc-crm of this release",
      { cause: fault },
    );
  }
  return fault;
}
