/** The user that containers run as: the usual `nonroot` of minimal images. */
export const NON_ROOT_USER = 65_532;

/** Below this, binding needs a privilege that our containers do not have. */
const FIRST_FREE_PORT = 1024;

/** What the restricted pod security standard asks of every container. */
export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  runAsUser: NON_ROOT_USER,
  runAsGroup: NON_ROOT_USER,
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/**
 * The same for the pod. Functions may listen on port 80 though nobody is root: the sysctl that opens low ports is one of
 * the safe ones that the restricted standard lets pass.
 */
export function podSecurity(ports: readonly number[]): Readonly<Record<string, unknown>> {
  return {
    runAsNonRoot: true,
    runAsUser: NON_ROOT_USER,
    runAsGroup: NON_ROOT_USER,
    fsGroup: NON_ROOT_USER,
    seccompProfile: { type: "RuntimeDefault" },
    ...(ports.some((port) => port < FIRST_FREE_PORT)
      ? { sysctls: [{ name: "net.ipv4.ip_unprivileged_port_start", value: "0" }] }
      : {}),
  };
}
