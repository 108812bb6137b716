import type { SecurityContext } from "@oaas/models";

/** User id of containers: `nonroot` in minimal images. */
export const NON_ROOT_USER = 65_532;

/** Ports below this need a privilege that containers do not have. */
const FIRST_FREE_PORT = 1024;

/** Container settings of the restricted pod security standard. */
export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  runAsUser: NON_ROOT_USER,
  runAsGroup: NON_ROOT_USER,
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** The security of a function container: stated members over ours, always without the capabilities of the runtime. */
export function containerSecurity(stated: SecurityContext | undefined): Readonly<Record<string, unknown>> {
  if (stated === undefined) return CONTAINER_SECURITY;
  const { drop = [], add } = stated.capabilities ?? {};
  return {
    ...CONTAINER_SECURITY,
    ...stated,
    capabilities: {
      drop: drop.includes("ALL") ? drop : ["ALL", ...drop],
      ...(add === undefined || add.length === 0 ? {} : { add }),
    },
  };
}

/** Pod settings of the restricted pod security standard. A safe sysctl lets non-root functions listen on low ports. */
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
