/*
 * A checker of the restricted pod security standard, written from the published rules and independent of the renderers.
 */

type Json = Readonly<Record<string, unknown>>;

const SAFE_SYSCTLS = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
]);
const VOLUME_TYPES = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

/** All violations of the standard in a pod spec. */
export function restrictedProblems(pod: Json): string[] {
  const context = (pod["securityContext"] ?? {}) as Json;
  const containers = [pod["initContainers"], pod["containers"]].flatMap((list) => (list ?? []) as Json[]);
  return [
    ...["hostNetwork", "hostPID", "hostIPC"].filter((field) => pod[field] === true),
    ...((context["sysctls"] ?? []) as { name: string }[])
      .filter(({ name }) => !SAFE_SYSCTLS.has(name))
      .map(({ name }) => `sysctl ${name}`),
    ...((pod["volumes"] ?? []) as Json[]).flatMap((volume) =>
      Object.keys(volume)
        .filter((key) => key !== "name" && !VOLUME_TYPES.has(key))
        .map((key) => `volume of type ${key}`),
    ),
    ...containers.flatMap((container) => containerProblems(container, context)),
  ];
}

function containerProblems(container: Json, pod: Json): string[] {
  const own = (container["securityContext"] ?? {}) as Json;
  const capabilities = (own["capabilities"] ?? {}) as { drop?: string[]; add?: string[] };
  const seccomp = ((own["seccompProfile"] ?? pod["seccompProfile"] ?? {}) as Json)["type"];
  const ports = (container["ports"] ?? []) as { hostPort?: number }[];
  const name = String(container["name"]);
  return [
    own["privileged"] === true ? "is privileged" : "",
    own["allowPrivilegeEscalation"] === false ? "" : "may escalate",
    capabilities.drop?.includes("ALL") === true ? "" : "keeps capabilities",
    (capabilities.add ?? []).every((one) => one === "NET_BIND_SERVICE") ? "" : "adds capabilities",
    (own["runAsNonRoot"] ?? pod["runAsNonRoot"]) === true ? "" : "may run as root",
    (own["runAsUser"] ?? pod["runAsUser"]) === 0 ? "runs as root" : "",
    seccomp === "RuntimeDefault" || seccomp === "Localhost" ? "" : "has no seccomp profile",
    ports.some(({ hostPort }) => hostPort !== undefined) ? "takes a port of the host" : "",
  ]
    .filter((problem) => problem !== "")
    .map((problem) => `${name} ${problem}`);
}

/** The pod spec of a workload; undefined for objects without pods. */
export function podSpecOf(object: Json): Json | undefined {
  const spec = (object["spec"] ?? {}) as Json;
  const template = (((spec["jobTemplate"] as Json | undefined)?.["spec"] as Json | undefined)?.["template"] ??
    spec["template"]) as Json | undefined;
  return template?.["spec"] as Json | undefined;
}
