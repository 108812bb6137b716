import type { JsonObject } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { hasObject, numberAt, objectAt, objectsAt, textAt, textsAt } from "../kinds/json-access.ts";
import { AGE, balancerText, column, labelsText, listText, NAME, nameOf, orElse, selectorText } from "./cells.ts";

const spec = (object: JsonObject): JsonObject => objectAt(object, "spec");

export const serviceColumns: readonly Column[] = [
  NAME,
  column("Type", (service) => textAt(spec(service), "type")),
  column("Cluster-IP", (service) => textsAt(spec(service), "clusterIPs")[0] ?? "<none>"),
  column("External-IP", externalText),
  column("Port(s)", (service) => orElse(objectsAt(spec(service), "ports").map(portText).join(","), "<none>")),
  AGE,
  column("Selector", (service) => labelsText(objectAt(service, "spec", "selector")), { isWide: true }),
];

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, "nodePort") ?? 0;
  return `${numberAt(port, "port") ?? 0}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
}

function externalText(service: JsonObject): string {
  const own = textsAt(spec(service), "externalIPs");
  switch (textAt(spec(service), "type")) {
    case "ClusterIP":
    case "NodePort":
      return orElse(own.join(","), "<none>");
    case "LoadBalancer": {
      const balancer = balancerText(objectAt(service, "status"));
      return orElse([...(balancer === "" ? [] : balancer.split(",")), ...own].join(","), "<pending>");
    }
    case "ExternalName":
      return textAt(spec(service), "externalName");
    default:
      return "<unknown>";
  }
}

export const endpointsColumns: readonly Column[] = [NAME, column("Endpoints", endpointsText), AGE];

function endpointsText(endpoints: JsonObject): string {
  const subsets = objectsAt(endpoints, "subsets");
  if (subsets.length === 0) return "<none>";
  const all = subsets.flatMap((subset) => {
    const ips = objectsAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = objectsAt(subset, "ports");
    return ports.length === 0
      ? ips
      : ports.flatMap((port) => ips.map((ip) => `${ip.includes(":") ? `[${ip}]` : ip}:${numberAt(port, "port") ?? 0}`));
  });
  return listText(all, 3, "");
}

export const endpointSliceColumns: readonly Column[] = [
  NAME,
  column("AddressType", (slice) => textAt(slice, "addressType")),
  column("Ports", (slice) =>
    listText(
      objectsAt(slice, "ports").map((port) => String(numberAt(port, "port") ?? orElse(textAt(port, "name"), "*"))),
      3,
      "<unset>",
    ),
  ),
  column("Endpoints", (slice) =>
    listText(
      objectsAt(slice, "endpoints").flatMap((each) => textsAt(each, "addresses")),
      3,
      "<unset>",
    ),
  ),
  AGE,
];

export const ingressColumns: readonly Column[] = [
  NAME,
  column("Class", (ingress) => orElse(textAt(spec(ingress), "ingressClassName"), "<none>")),
  column("Hosts", (ingress) => {
    const rules = objectsAt(spec(ingress), "rules");
    const hosts = rules.map((rule) => textAt(rule, "host")).filter((host) => host !== "");
    if (hosts.length === 0) return "*";
    return hosts.length > 3 ? `${hosts.slice(0, 3).join(",")} + ${rules.length - 3} more...` : hosts.join(",");
  }),
  column("Address", (ingress) => balancerText(objectAt(ingress, "status"))),
  column("Ports", (ingress) => (objectsAt(spec(ingress), "tls").length > 0 ? "80, 443" : "80")),
  AGE,
];

export const ingressClassColumns: readonly Column[] = [
  { ...NAME, cell: (object) => defaultName(object, "ingressclass.kubernetes.io/is-default-class") },
  column("Controller", (object) => textAt(spec(object), "controller")),
  column("Parameters", (object) => {
    if (!hasObject(spec(object), "parameters")) return "<none>";
    const parameters = objectAt(object, "spec", "parameters");
    const group = textAt(parameters, "apiGroup");
    return `${textAt(parameters, "kind")}${group === "" ? "" : `.${group}`}/${textAt(parameters, "name")}`;
  }),
  AGE,
];

/** The name of a class, and whether it is the default. */
export function defaultName(object: JsonObject, annotation: string): string {
  const isDefault = objectAt(object, "metadata", "annotations")[annotation] === "true";
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}

export const networkPolicyColumns: readonly Column[] = [
  NAME,
  column("Pod-Selector", (policy) => selectorText(objectAt(policy, "spec", "podSelector"))),
  AGE,
];
