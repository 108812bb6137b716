import type { JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { fillMissing, member, numberAt, objectAt, objectsAt, textAt, textsAt, withMember } from "../../json-access.ts";

/** Cluster IPs and node ports, each allocated once. */
export const CLUSTER_RANGE = "10.0.0.0/16";
const PREFIX = "10.0.";
const HOSTS = { first: 1, count: 65_534 };
const NODE_PORTS = { first: 30_000, count: 2_768 };
const SERVICES = { group: "", resource: "services" };
const EXTERNAL: ReadonlySet<string> = new Set(["NodePort", "LoadBalancer"]);

/** Whether an address is in the cluster's range. */
export function isInClusterRange(ip: string): boolean {
  return ip.startsWith(PREFIX);
}

/** The spec with a cluster IP, or marked as having none. */
export function allocateAddresses(spec: JsonObject, context: AdmissionContext): JsonObject {
  if (textAt(spec, "type") === "ExternalName") return spec;
  const requestedIp = textAt(spec, "clusterIP") || (textsAt(spec, "clusterIPs")[0] ?? "");
  const ip = requestedIp === "" ? findFreeAddress(context) : requestedIp;
  const isWithoutPods = ip === "None" && Object.keys(objectAt(spec, "selector")).length === 0;
  const families = isWithoutPods
    ? { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" }
    : { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
  return fillMissing({ ...spec, clusterIP: ip, clusterIPs: [ip] }, families);
}

/** The spec with a node port per port, if its type has them. */
export function allocateNodePorts(spec: JsonObject, context: AdmissionContext): JsonObject {
  const needsNodePorts = EXTERNAL.has(textAt(spec, "type")) && member(spec, "allocateLoadBalancerNodePorts") !== false;
  if (!needsNodePorts) return spec;
  const allocated = listNodePorts(
    context.objects(SERVICES).flatMap((service) => objectsAt(objectAt(service, "spec"), "ports")),
  );
  for (const port of listNodePorts(objectsAt(spec, "ports"))) allocated.add(port);
  const ports = objectsAt(spec, "ports").map((port) => {
    if ((numberAt(port, "nodePort") ?? 0) > 0) return port;
    const free = findFree(context, NODE_PORTS, (candidate) => allocated.has(candidate));
    allocated.add(free);
    return { ...port, nodePort: free };
  });
  const withPorts = withMember(spec, "ports", ports);
  const isChecked = textAt(spec, "type") === "LoadBalancer" && textAt(spec, "externalTrafficPolicy") === "Local";
  return isChecked
    ? fillMissing(withPorts, { healthCheckNodePort: findFree(context, NODE_PORTS, (port) => allocated.has(port)) })
    : withPorts;
}

function listNodePorts(ports: readonly JsonObject[]): Set<number> {
  return new Set(ports.map((port) => numberAt(port, "nodePort") ?? 0));
}

function findFreeAddress(context: AdmissionContext): string {
  const allocated = new Set(context.objects(SERVICES).map((service) => textAt(objectAt(service, "spec"), "clusterIP")));
  return formatAddress(findFree(context, HOSTS, (host) => allocated.has(formatAddress(host))));
}

function formatAddress(host: number): string {
  return `${PREFIX}${host >> 8}.${host & 255}`;
}

/** A free one from a seeded position, as the real server chooses randomly. */
function findFree(
  context: AdmissionContext,
  { first, count }: { first: number; count: number },
  isAllocated: (n: number) => boolean,
): number {
  const start = Number.parseInt(context.uuid().slice(0, 8), 16) % count;
  for (let step = 0; step < count; step += 1) {
    const candidate = first + ((start + step) % count);
    if (!isAllocated(candidate)) return candidate;
  }
  // The range is full: two services share one, which is acceptable for a simulated cluster.
  return first + start;
}
