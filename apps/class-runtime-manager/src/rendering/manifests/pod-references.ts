import { isJsonObject } from "@oaas/kube-core";

/** Kinds of objects that pods refer to by name. */
export type ReferenceKind = "Secret" | "ConfigMap" | "PersistentVolumeClaim" | "ServiceAccount" | "PriorityClass";

/** An object without which the pods of a workload cannot start. */
export interface PodReference {
  readonly kind: ReferenceKind;
  readonly name: string;
  /** The field of the pod that names it, such as `env DATABASE_URL`. */
  readonly usedBy: string;
}

type Json = Readonly<Record<string, unknown>>;

/** The objects that the pod template of a workload needs, each once; without optional ones. */
export function podReferences(workload: object): readonly PodReference[] {
  const pod = memberOf(memberOf(memberOf(workload, "spec"), "template"), "spec");
  const containers = [...listOf(pod["initContainers"]), ...listOf(pod["containers"])];
  const found = [
    ...containers.flatMap(containerReferences),
    ...listOf(pod["volumes"]).flatMap(volumeReferences),
    ...listOf(pod["imagePullSecrets"]).flatMap(({ name }) => reference("Secret", { name }, "imagePullSecrets")),
    ...reference("ServiceAccount", { name: pod["serviceAccountName"] }, "serviceAccountName"),
    ...reference("PriorityClass", { name: pod["priorityClassName"] }, "priorityClassName"),
  ];
  return [...new Map(found.toReversed().map((one) => [`${one.kind}/${one.name}`, one])).values()].toReversed();
}

function containerReferences(container: Json): readonly PodReference[] {
  return [
    ...listOf(container["env"]).flatMap((variable) => {
      const source = memberOf(variable, "valueFrom");
      const usedBy = `env ${String(variable["name"])}`;
      return [
        ...reference("Secret", source["secretKeyRef"], usedBy),
        ...reference("ConfigMap", source["configMapKeyRef"], usedBy),
      ];
    }),
    ...listOf(container["envFrom"]).flatMap((source) => [
      ...reference("Secret", source["secretRef"], "envFrom"),
      ...reference("ConfigMap", source["configMapRef"], "envFrom"),
    ]),
  ];
}

function volumeReferences(volume: Json): readonly PodReference[] {
  const usedBy = `volume ${String(volume["name"])}`;
  const { secretName, optional } = memberOf(volume, "secret");
  const { claimName } = memberOf(volume, "persistentVolumeClaim");
  return [
    ...reference("Secret", { name: secretName, optional }, usedBy),
    ...reference("ConfigMap", volume["configMap"], usedBy),
    ...reference("PersistentVolumeClaim", { name: claimName }, usedBy),
    ...listOf(memberOf(volume, "projected")["sources"]).flatMap((source) => [
      ...reference("Secret", source["secret"], usedBy),
      ...reference("ConfigMap", source["configMap"], usedBy),
    ]),
  ];
}

function reference(kind: ReferenceKind, stated: unknown, usedBy: string): readonly PodReference[] {
  if (!isJsonObject(stated) || stated["optional"] === true) return [];
  const { name } = stated;
  return typeof name === "string" && name !== "" ? [{ kind, name, usedBy }] : [];
}

function memberOf(value: unknown, name: string): Json {
  const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(member) ? member : {};
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
