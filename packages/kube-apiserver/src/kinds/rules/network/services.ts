import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { hasObject, member, numberAt, objectAt, objectsAt, textAt, textsAt, withMember } from "../../json-access.ts";
import {
  duplicate,
  forbidden,
  invalid,
  invalidFor,
  NONE,
  oneOf,
  required,
  unsupported,
  type Errors,
} from "../../validation/field-errors.ts";
import { validateLabels } from "../../validation/metadata.ts";
import { dnsLabel, dnsSubdomain, ipAddress, portNumber, portNumberOrName } from "../../validation/names.ts";
import { CLUSTER_RANGE, isInClusterRange, allocateAddresses, allocateNodePorts } from "./service-allocation.ts";
import type { BuiltInRule } from "../built-in-rule.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const EXTERNAL: ReadonlySet<string> = new Set(["NodePort", "LoadBalancer"]);

export const services: BuiltInRule = {
  name: dnsLabel,
  countsGenerations: false,
  prepareCreate: (service, context) => updateSpec(service, (spec) => allocateFields(spec, context)),
  prepareUpdate: (next, live, context) =>
    updateSpec(next, (spec) => allocateFields(keepAllocatedFields(spec, objectAt(live, "spec")), context)),
  errors: (service) => validateSpec(objectAt(service, "spec")),
  updateErrors: validateUpdate,
};

function updateSpec(service: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  return withMember(service, "spec", change(objectAt(service, "spec")));
}

function allocateFields(spec: JsonObject, context: AdmissionContext): JsonObject {
  // Invalid input is rejected as sent; nothing is allocated for it.
  return validateSpec(spec).length > 0 ? spec : allocateNodePorts(allocateAddresses(spec, context), context);
}

/** Allocated values stay unless the author changes them or they are no longer needed. */
function keepAllocatedFields(spec: JsonObject, live: JsonObject): JsonObject {
  if (textAt(spec, "type") === "ExternalName") return releaseAddresses(spec, live);
  const addresses = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];
  const restored = addresses.reduce(
    (result, name) => (member(result, name) === undefined ? withMember(result, name, live[name]) : result),
    spec,
  );
  if (!EXTERNAL.has(textAt(spec, "type"))) return releaseNodePorts(restored, live);
  const ports = objectsAt(restored, "ports").map((port) => {
    const old = objectsAt(live, "ports").find((each) => isSamePort(each, port));
    return (numberAt(port, "nodePort") ?? 0) > 0 || old === undefined
      ? port
      : withMember(port, "nodePort", old["nodePort"]);
  });
  return withMember(restored, "ports", ports);
}

function isSamePort(a: JsonObject, b: JsonObject): boolean {
  return textAt(a, "protocol") === textAt(b, "protocol") && a["port"] === b["port"];
}

function releaseAddresses(spec: JsonObject, live: JsonObject): JsonObject {
  const names = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"];
  return names.reduce(
    (result, name) =>
      equalJson(result[name] ?? null, live[name] ?? null) ? withMember(result, name, undefined) : result,
    releaseNodePorts(spec, live),
  );
}

/** Existing node ports are released when no longer needed. */
function releaseNodePorts(spec: JsonObject, live: JsonObject): JsonObject {
  if (member(spec, "ports") === undefined) return spec;
  const old = new Set(objectsAt(live, "ports").map((port) => numberAt(port, "nodePort")));
  const ports = objectsAt(spec, "ports").map((port) =>
    old.has(numberAt(port, "nodePort")) ? withMember(port, "nodePort", undefined) : port,
  );
  const result = withMember(spec, "ports", ports);
  const isPolicyUnchanged = equalJson(result["externalTrafficPolicy"] ?? null, live["externalTrafficPolicy"] ?? null);
  return isPolicyUnchanged ? withMember(result, "externalTrafficPolicy", undefined) : result;
}

function validateSpec(spec: JsonObject): Errors {
  const type = textAt(spec, "type");
  const isHeadless = textAt(spec, "clusterIP") === "None" || textsAt(spec, "clusterIPs")[0] === "None";
  const ports = objectsAt(spec, "ports");
  const externalName = textAt(spec, "externalName");
  return [
    ...(ports.length === 0 && !isHeadless && type !== "ExternalName" ? [required("spec.ports")] : NONE),
    ...(type === "ExternalName"
      ? externalName === ""
        ? [required("spec.externalName")]
        : invalidFor("spec.externalName", externalName, dnsSubdomain(externalName.replace(/\.$/, ""), false))
      : NONE),
    ...validatePorts(ports, type),
    ...validateLabels(spec, "spec.selector"),
    ...(textAt(spec, "sessionAffinity") === ""
      ? [required("spec.sessionAffinity")]
      : oneOf("spec.sessionAffinity", textAt(spec, "sessionAffinity"), ["ClientIP", "None"])),
    ...validateAddress(spec),
    ...textsAt(spec, "externalIPs").flatMap((ip, index) => invalidFor(`spec.externalIPs[${index}]`, ip, ipAddress(ip))),
    ...(type === "" ? [required("spec.type")] : TYPES.includes(type) ? NONE : [unsupported("spec.type", type, TYPES)]),
    ...validateNodePort(ports, type),
    ...validateTraffic(spec, type),
  ];
}

function validatePorts(ports: readonly JsonObject[], type: string): Errors {
  const names = new Set<string>();
  const numbers = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const name = textAt(port, "name");
    const [protocol, number] = [textAt(port, "protocol"), numberAt(port, "port") ?? 0];
    const key = `${protocol}/${number}`;
    const [isDuplicateName, isDuplicatePort] = [name !== "" && names.has(name), numbers.has(key)];
    names.add(name);
    numbers.add(key);
    return [
      ...(name === "" && ports.length > 1 ? [required(`${at}.name`)] : NONE),
      ...(name === "" ? NONE : invalidFor(`${at}.name`, name, dnsLabel(name, false))),
      ...(isDuplicateName ? [duplicate(`${at}.name`, name)] : NONE),
      ...invalidFor(`${at}.port`, number, portNumber(number)),
      ...(protocol === "" ? [required(`${at}.protocol`)] : oneOf(`${at}.protocol`, protocol, ["SCTP", "TCP", "UDP"])),
      ...(type === "ExternalName"
        ? NONE
        : invalidFor(`${at}.targetPort`, port["targetPort"], portNumberOrName(port["targetPort"]))),
      ...(isDuplicatePort
        ? [duplicate(at, { Name: "", Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 })]
        : NONE),
    ];
  });
}

function validateAddress(spec: JsonObject): Errors {
  const ips =
    textsAt(spec, "clusterIPs").length > 0 ? textsAt(spec, "clusterIPs") : [textAt(spec, "clusterIP")].filter(Boolean);
  if (textAt(spec, "type") === "ExternalName") return NONE;
  return ips.flatMap((ip, index) => {
    if (ip === "None") return NONE;
    const errors = invalidFor(`spec.clusterIPs[${index}]`, ip, ipAddress(ip));
    if (errors.length > 0 || isInClusterRange(ip) || ip.includes(":")) return errors;
    const range = `the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${CLUSTER_RANGE}`;
    return [invalid("spec.clusterIPs", [ip], `failed to allocate IP ${ip}: ${range}`)];
  });
}

function validateNodePort(ports: readonly JsonObject[], type: string): Errors {
  if (EXTERNAL.has(type)) return NONE;
  return ports.flatMap((port, index) =>
    (numberAt(port, "nodePort") ?? 0) === 0
      ? NONE
      : [forbidden(`spec.ports[${index}].nodePort`, `may not be used when \`type\` is '${type}'`)],
  );
}

function validateTraffic(spec: JsonObject, type: string): Errors {
  const policy = textAt(spec, "externalTrafficPolicy");
  const isExternal = EXTERNAL.has(type) || (type === "ClusterIP" && textsAt(spec, "externalIPs").length > 0);
  if (policy === "") return NONE;
  if (!isExternal)
    return [invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")];
  return oneOf("spec.externalTrafficPolicy", policy, ["Cluster", "Local"]);
}

function validateUpdate(next: JsonObject, live: JsonObject): Errors {
  const [now, before] = [objectAt(next, "spec"), objectAt(live, "spec")];
  const isAddressed = (spec: JsonObject): boolean => textAt(spec, "type") !== "ExternalName" && hasAddress(spec);
  if (!isAddressed(now) || !isAddressed(before)) return NONE;
  const [ip, old] = [textAt(now, "clusterIP"), textAt(before, "clusterIP")];
  return ip === old ? NONE : [invalid("spec.clusterIPs[0]", [ip], "may not change once set")];
}

function hasAddress(spec: JsonObject): boolean {
  return textAt(spec, "clusterIP") !== "" || hasObject(spec, "clusterIPs");
}
