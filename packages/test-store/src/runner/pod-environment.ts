import type { KubeObject } from "@oaas/kube-core";

/** The parts of a pod that the runner reads. */
export interface StorePod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly containers?: readonly PodContainer[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly hostIP?: string;
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly restartCount?: number;
      readonly state?: { readonly running?: object };
    }[];
  };
}

export interface PodContainer {
  readonly name: string;
  readonly env?: readonly EnvironmentVariable[];
}

interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly configMapKeyRef?: ConfigMapKey;
    readonly secretKeyRef?: object;
    readonly resourceFieldRef?: object;
  };
}

interface ConfigMapKey {
  readonly name?: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** The data of a ConfigMap in the namespace of the pod; undefined when there is none. */
export type ReadConfigMap = (name: string) => Promise<Readonly<Record<string, string>> | undefined>;

/**
 * The environment of a container as a kubelet sets it when the container starts. Throws an error with the reason when
 * a kubelet would not start the container.
 */
export async function resolveEnvironment(
  pod: StorePod,
  container: PodContainer,
  readConfigMap: ReadConfigMap,
): Promise<Readonly<Record<string, string>>> {
  const resolved = new Map<string, string>();
  for (const variable of container.env ?? []) {
    const value = await resolveVariable(pod, variable, resolved, readConfigMap);
    if (value !== undefined) resolved.set(variable.name, value);
  }
  return Object.fromEntries(resolved);
}

async function resolveVariable(
  pod: StorePod,
  { name, value = "", valueFrom }: EnvironmentVariable,
  before: ReadonlyMap<string, string>,
  readConfigMap: ReadConfigMap,
): Promise<string | undefined> {
  if (valueFrom === undefined) return expand(value, before);
  if (valueFrom.fieldRef !== undefined) return readField(pod, valueFrom.fieldRef.fieldPath);
  if (valueFrom.configMapKeyRef === undefined) throw new Error(`${name}: only fields and ConfigMaps can be read`);
  const { name: map = "", key, optional = false } = valueFrom.configMapKeyRef;
  const data = await readConfigMap(map);
  const found = data?.[key];
  if (found === undefined && !optional) {
    throw new Error(
      data === undefined ? `configmap "${map}" not found` : `couldn't find key ${key} in ConfigMap ${map}`,
    );
  }
  return found;
}

/** Replaces `$(NAME)` by an earlier variable; `$$` stands for a dollar sign. */
function expand(text: string, before: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\$|\$\((?<name>[\w.-]+)\)/g, (match, name: string | undefined) =>
    match === "$$" ? "$" : (before.get(name ?? "") ?? match),
  );
}

const PLAIN_FIELDS: Readonly<Record<string, (pod: StorePod) => string | undefined>> = {
  "metadata.name": ({ metadata }) => metadata.name,
  "metadata.namespace": ({ metadata }) => metadata.namespace,
  "metadata.uid": ({ metadata }) => metadata.uid,
  "spec.nodeName": ({ spec }) => spec?.nodeName,
  "spec.serviceAccountName": ({ spec }) => spec?.serviceAccountName,
  "status.hostIP": ({ status }) => status?.hostIP,
  "status.podIP": ({ status }) => status?.podIP,
};

function readField(pod: StorePod, path: string): string {
  const { part, key = "" } = /^metadata\.(?<part>labels|annotations)\['(?<key>[^']+)'\]$/.exec(path)?.groups ?? {};
  if (part !== undefined) return pod.metadata[part as "labels" | "annotations"]?.[key] ?? "";
  return PLAIN_FIELDS[path]?.(pod) ?? "";
}
