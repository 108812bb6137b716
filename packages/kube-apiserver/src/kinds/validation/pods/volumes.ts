import type { JsonObject } from "@oaas/kube-core";
import { hasObject, objectAt, objectsAt, textAt } from "../../json-access.ts";
import { duplicate, forbidden, invalid, invalidFor, NONE, required, type Errors } from "../field-errors.ts";
import { dnsLabel } from "../names.ts";

/** The volumes of a pod; `account` is its service account. */
export function validateVolumes(volumes: readonly JsonObject[], field: string, account: string): Errors {
  const names = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const at = `${field}[${index}]`;
    const name = textAt(volume, "name");
    const isTwice = names.has(name) && name !== "";
    names.add(name);
    return [
      ...validateSource(volume, at, account),
      ...(name === "" ? [required(`${at}.name`)] : invalidFor(`${at}.name`, name, dnsLabel(name, false))),
      ...(isTwice ? [duplicate(`${at}.name`, name)] : NONE),
    ];
  });
}

/** The order in which the real server checks sources: all but the first are rejected. */
const ORDER = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "persistentVolumeClaim",
  "downwardAPI",
  "configMap",
  "projected",
  "ephemeral",
  "csi",
  "image",
];

function validateSource(volume: JsonObject, field: string, account: string): Errors {
  const sources = Object.keys(volume).filter((name) => name !== "name" && hasObject(volume, name));
  const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  const [first, ...more] = sources.toSorted((a, b) => rank(a) - rank(b));
  if (first === undefined) return [required(field, "must specify a volume type")];
  return [
    ...validateOneSource(objectAt(volume, first), first, `${field}.${first}`, account),
    ...more.map((name) => forbidden(`${field}.${name}`, "may not specify more than 1 volume type")),
  ];
}

function validateOneSource(source: JsonObject, name: string, field: string, account: string): Errors {
  const need = (member: string): Errors => (textAt(source, member) === "" ? [required(`${field}.${member}`)] : NONE);
  switch (name) {
    case "configMap":
      return [...need("name"), ...validateItems(source, field)];
    case "secret":
      return [...need("secretName"), ...validateItems(source, field)];
    case "hostPath":
      return need("path");
    case "persistentVolumeClaim":
      return need("claimName");
    case "projected":
      return validateProjected(source, field, account);
    default:
      return NONE;
  }
}

function validateItems(source: JsonObject, field: string): Errors {
  return objectsAt(source, "items").flatMap((item, index) => {
    const at = `${field}.items[${index}]`;
    const path = textAt(item, "path");
    return [
      ...(textAt(item, "key") === "" ? [required(`${at}.key`)] : NONE),
      ...(path === "" ? [required(`${at}.path`)] : validateRelativePath(path, `${at}.path`)),
    ];
  });
}

function validateRelativePath(path: string, field: string): Errors {
  if (path.startsWith("/")) return [invalid(field, path, "must be a relative path")];
  return path.split("/").includes("..") ? [invalid(field, path, "must not contain '..'")] : NONE;
}

function validateProjected(source: JsonObject, field: string, account: string): Errors {
  return objectsAt(source, "sources").flatMap((part, index) => {
    const at = `${field}.sources[${index}]`;
    return [
      ...(hasObject(part, "configMap") && textAt(objectAt(part, "configMap"), "name") === ""
        ? [required(`${at}.configMap.name`)]
        : NONE),
      ...(hasObject(part, "secret") && textAt(objectAt(part, "secret"), "name") === ""
        ? [required(`${at}.secret.name`)]
        : NONE),
      ...(hasObject(part, "serviceAccountToken") && account === ""
        ? [forbidden(`${at}.serviceAccountToken`, "must not be specified when serviceAccountName is not set")]
        : NONE),
    ];
  });
}
