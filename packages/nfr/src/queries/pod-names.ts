/** The workload of a pod. */
export interface Workload {
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet" | "Knative";
  readonly namespace: string;
  /** The name of the Deployment, StatefulSet or DaemonSet, or of the Knative Service. */
  readonly name: string;
}

/** Letters and digits of names that Kubernetes generates. */
const GENERATED = "[bcdfghjklmnpqrstvwxz2456789]";
const SUFFIX = `-(?<suffix>${GENERATED}{5})`;
/** A ReplicaSet has a hash of up to ten letters and digits. */
const REPLICA_SET = `-(?<hash>${GENERATED}{1,10})`;

const PATTERNS: readonly (readonly [Workload["kind"], RegExp])[] = [
  ["Knative", new RegExp(`^(?<name>.+)-\\d{5,}-deployment${REPLICA_SET}${SUFFIX}$`)],
  ["Deployment", new RegExp(`^(?<name>.+)${REPLICA_SET}${SUFFIX}$`)],
  ["StatefulSet", /^(?<name>.+)-\d+$/],
  ["DaemonSet", new RegExp(`^(?<name>.+)${SUFFIX}$`)],
];

/** Kubernetes cuts the part before a generated suffix at this length. */
const MAX_BASE = 58;

/** A Deployment of a revision of Knative. */
const REVISION_DEPLOYMENT = /^(?<name>.+)-\d{5,}-deployment$/;

/** The Knative Service of a Deployment, when it belongs to one by its name. */
export function knativeServiceOf(deployment: string): string | undefined {
  return REVISION_DEPLOYMENT.exec(deployment)?.groups?.["name"];
}

/**
 * Which workload a pod belongs to, by the exact rules of Kubernetes for names: `web-api-7d4b9c6f5d-x2x4z` belongs to the
 * Deployment `web-api` and never to `web`.
 */
export class PodIndex<T> {
  readonly #workloads = new Map<string, T>();
  /** Deployments whose pods have a shortened name, by the part that is left of it. */
  readonly #long = new Map<string, { readonly name: string; readonly value: T }[]>();

  add(workload: Workload, value: T): void {
    this.#workloads.set(keyOf(workload.kind, workload.namespace, workload.name), value);
    if (workload.kind !== "Deployment" || workload.name.length <= MAX_BASE - 12) return;
    const key = `${workload.namespace}/${workload.name.slice(0, MAX_BASE - 12)}`;
    this.#long.set(key, [...(this.#long.get(key) ?? []), { name: workload.name, value }]);
  }

  find(namespace: string, pod: string): T | undefined {
    for (const [kind, pattern] of PATTERNS) {
      const name = pattern.exec(pod)?.groups?.["name"];
      const found = name === undefined ? undefined : this.#workloads.get(keyOf(kind, namespace, name));
      if (found !== undefined) return found;
    }
    return this.#findShortened(namespace, pod);
  }

  /** A name that fills the limit; the longest Deployment name that its base begins with. */
  #findShortened(namespace: string, pod: string): T | undefined {
    if (pod.length !== MAX_BASE + 5) return undefined;
    const base = pod.slice(0, MAX_BASE);
    const candidates = this.#long.get(`${namespace}/${base.slice(0, MAX_BASE - 12)}`) ?? [];
    const matching = candidates.filter(({ name }) => `${name}-`.slice(0, MAX_BASE) === base.slice(0, name.length + 1));
    matching.sort((a, b) => b.name.length - a.name.length);
    const [longest, other] = matching;
    const isAmbiguous = other !== undefined && other.name.length >= MAX_BASE;
    return isAmbiguous ? undefined : longest?.value;
  }
}

function keyOf(kind: Workload["kind"], namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
