import { isIP } from "node:net";
import { equalJson, type JsonObject } from "@oaas/kube-core";
import { hasObject, member, numberAt, objectAt, objectsAt, textAt, textsAt } from "../json-access.ts";
import {
  forbidden,
  invalid,
  invalidFor,
  NONE,
  required,
  unsupported,
  type Errors,
} from "../validation/field-errors.ts";
import {
  cidr,
  dnsLabel,
  dnsSubdomain,
  domainPrefixedPath,
  portName,
  portNumber,
  portNumberOrName,
} from "../validation/names.ts";
import { validateSelector } from "../validation/selectors.ts";
import { validateUnchanged, type BuiltInRule } from "./built-in-rule.ts";
import { atMostAll, countOrPercent } from "../validation/update-strategies.ts";

const isSpecChanged = (next: JsonObject, live: JsonObject): boolean =>
  !equalJson(next["spec"] ?? {}, live["spec"] ?? {});

export const podDisruptionBudgets: BuiltInRule = {
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  errors(budget) {
    const spec = objectAt(budget, "spec");
    const [minAvailable, maxUnavailable] = [member(spec, "minAvailable"), member(spec, "maxUnavailable")];
    const both = {
      MinAvailable: minAvailable ?? null,
      Selector: objectAt(spec, "selector"),
      MaxUnavailable: maxUnavailable ?? null,
      UnhealthyPodEvictionPolicy: null,
    };
    return [
      ...(minAvailable !== undefined && maxUnavailable !== undefined
        ? [invalid("spec", both, "minAvailable and maxUnavailable cannot be both set")]
        : NONE),
      ...countOrPercent(minAvailable, "spec.minAvailable"),
      ...atMostAll(minAvailable, "spec.minAvailable"),
      ...countOrPercent(maxUnavailable, "spec.maxUnavailable"),
      ...atMostAll(maxUnavailable, "spec.maxUnavailable"),
      ...validateSelector(objectAt(spec, "selector"), "spec.selector"),
    ];
  },
};

export const networkPolicies: BuiltInRule = {
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  errors(policy) {
    const spec = objectAt(policy, "spec");
    const types = ["Ingress", "Egress"];
    return [
      ...validateSelector(objectAt(spec, "podSelector"), "spec.podSelector"),
      ...(["ingress", "egress"] as const).flatMap((direction) =>
        objectsAt(spec, direction).flatMap((rule, index) =>
          validateRule(rule, direction === "ingress" ? "from" : "to", `spec.${direction}[${index}]`),
        ),
      ),
      ...textsAt(spec, "policyTypes").flatMap((type, index) =>
        types.includes(type) ? NONE : [unsupported(`spec.policyTypes[${index}]`, type, types)],
      ),
    ];
  },
};

function validateRule(rule: JsonObject, side: string, field: string): Errors {
  const protocols = ["TCP", "UDP", "SCTP"];
  return [
    ...objectsAt(rule, "ports").flatMap((port, index) => {
      const at = `${field}.ports[${index}]`;
      const protocol = textAt(port, "protocol");
      return [
        ...(protocol === "" || protocols.includes(protocol)
          ? NONE
          : [unsupported(`${at}.protocol`, protocol, protocols)]),
        ...(member(port, "port") === undefined
          ? NONE
          : invalidFor(`${at}.port`, port["port"], portNumberOrName(port["port"]))),
      ];
    }),
    ...objectsAt(rule, side).flatMap((peer, index) => validatePeer(peer, `${field}.${side}[${index}]`)),
  ];
}

function validatePeer(peer: JsonObject, field: string): Errors {
  const selectors = ["podSelector", "namespaceSelector", "ipBlock"].filter((name) => hasObject(peer, name));
  const block = textAt(objectAt(peer, "ipBlock"), "cidr");
  if (selectors.length === 0) return [required(field, "must specify a peer")];
  return [
    ...(selectors.length > 1 && selectors.includes("ipBlock")
      ? [forbidden(field, "may not specify both ipBlock and another peer")]
      : NONE),
    ...selectors
      .filter((name) => name !== "ipBlock")
      .flatMap((name) => validateSelector(objectAt(peer, name), `${field}.${name}`)),
    ...(selectors.includes("ipBlock")
      ? block === ""
        ? [required(`${field}.ipBlock.cidr`)]
        : invalidFor(`${field}.ipBlock.cidr`, block, cidr(block))
      : NONE),
  ];
}

export const ingresses: BuiltInRule = {
  countsGenerations: true,
  startsGeneration: isSpecChanged,
  errors(ingress) {
    const spec = objectAt(ingress, "spec");
    const rules = objectsAt(spec, "rules");
    const hasBackend = hasObject(spec, "defaultBackend");
    return [
      ...(rules.length === 0 && !hasBackend
        ? [invalid("spec", null, "either `defaultBackend` or `rules` must be specified")]
        : NONE),
      ...(hasBackend ? validateBackend(objectAt(spec, "defaultBackend"), "spec.defaultBackend") : NONE),
      ...rules.flatMap((rule, index) => validateIngressRule(rule, `spec.rules[${index}]`)),
    ];
  },
};

function validateIngressRule(rule: JsonObject, field: string): Errors {
  const host = textAt(rule, "host");
  const domain = host.startsWith("*.") ? host.slice(2) : host;
  return [
    ...(host === ""
      ? NONE
      : isIP(host) === 0
        ? invalidFor(`${field}.host`, host, dnsSubdomain(domain, false))
        : [invalid(`${field}.host`, host, "must be a DNS name, not an IP address")]),
    ...objectsAt(objectAt(rule, "http"), "paths").flatMap((path, index) =>
      validatePath(path, `${field}.http.paths[${index}]`),
    ),
  ];
}

function validatePath(path: JsonObject, field: string): Errors {
  const [type, text] = [textAt(path, "pathType"), textAt(path, "path")];
  const types = ["Exact", "ImplementationSpecific", "Prefix"];
  const isAbsolute = text.startsWith("/") || (type === "ImplementationSpecific" && text === "");
  return [
    ...(type === "" ? [required(`${field}.pathType`, "pathType must be specified")] : NONE),
    ...(type === "" || types.includes(type) ? NONE : [unsupported(`${field}.pathType`, type, types)]),
    ...(type === "" || isAbsolute ? NONE : [invalid(`${field}.path`, text, "must be an absolute path")]),
    ...validateBackend(objectAt(path, "backend"), `${field}.backend`),
  ];
}

function validateBackend(backend: JsonObject, field: string): Errors {
  if (hasObject(backend, "resource")) return NONE;
  if (!hasObject(backend, "service")) return [invalid(field, "", "resource or service backend is required")];
  const service = objectAt(backend, "service");
  const [name, port] = [textAt(service, "name"), objectAt(service, "port")];
  const number = numberAt(port, "number") ?? 0;
  return [
    ...(name === ""
      ? [required(`${field}.service.name`)]
      : invalidFor(`${field}.service.name`, name, dnsLabel(name, false))),
    ...(textAt(port, "name") === "" && number === 0 ? [required(field, "port name or number is required")] : NONE),
    ...(textAt(port, "name") === ""
      ? NONE
      : invalidFor(`${field}.service.port.name`, textAt(port, "name"), portName(textAt(port, "name")))),
    ...(number === 0 ? NONE : invalidFor(`${field}.service.port.number`, number, portNumber(number))),
  ];
}

export const ingressClasses: BuiltInRule = {
  countsGenerations: true,
  errors(object) {
    const controller = textAt(objectAt(object, "spec"), "controller");
    return controller === ""
      ? [required("spec.controller")]
      : invalidFor("spec.controller", controller, domainPrefixedPath(controller));
  },
  updateErrors: (next, live) => validateUnchanged(next, live, "spec.controller", "spec", "controller"),
};
