import type { JsonObject } from "@oaas/kube-core";
import { updateAt, member, objectAt, textAt, textEntries } from "../json-access.ts";
import { IMMUTABLE, invalid, invalidFor, NONE, required, tooLong, type Errors } from "../validation/field-errors.ts";
import { configMapKey, dnsLabel } from "../validation/names.ts";
import { validateFrozen, type BuiltInRule } from "./built-in-rule.ts";

const MAX_BYTES = 1024 * 1024;
const DOCKER_KEYS: Readonly<Record<string, string>> = {
  "kubernetes.io/dockercfg": ".dockercfg",
  "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
};

export const configMaps: BuiltInRule = {
  countsGenerations: false,
  errors(map) {
    const binary = objectAt(map, "binaryData");
    const data = textEntries(map, "data");
    const size = data.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0) + countBytes(map, "binaryData");
    return [
      ...data.flatMap(([key]) => [
        ...invalidFor(`data[${key}]`, key, configMapKey(key)),
        ...(Object.hasOwn(binary, key)
          ? [invalid(`data[${key}]`, key, "duplicate of key present in binaryData")]
          : NONE),
      ]),
      ...Object.keys(binary).flatMap((key) => invalidFor(`binaryData[${key}]`, key, configMapKey(key))),
      ...(size > MAX_BYTES ? [tooLong("[]", MAX_BYTES)] : NONE),
    ];
  },
  updateErrors: (next, live) => validateFrozen(next, live, ["data", "binaryData"]),
};

export const secrets: BuiltInRule = {
  countsGenerations: false,
  errors(secret) {
    const data = objectAt(secret, "data");
    return [
      ...Object.keys(data).flatMap((key) => invalidFor(`data[${key}]`, key, configMapKey(key))),
      ...(countBytes(secret, "data") > MAX_BYTES ? [tooLong("data", MAX_BYTES)] : NONE),
      ...validateType(secret, data),
    ];
  },
  updateErrors: (next, live) => [
    ...(textAt(next, "type") === textAt(live, "type") ? NONE : [invalid("type", textAt(next, "type"), IMMUTABLE)]),
    ...validateFrozen(next, live, ["data"]),
  ],
};

/** The decoded length of base64 strings. */
function countBytes(object: JsonObject, name: string): number {
  return textEntries(object, name).reduce((sum, [, value]) => sum + Buffer.byteLength(value, "base64"), 0);
}

function validateType(secret: JsonObject, data: JsonObject): Errors {
  const type = textAt(secret, "type");
  const hasKey = (key: string): boolean => Object.hasOwn(data, key);
  const requireKeys = (...keys: readonly string[]): Errors =>
    keys.filter((key) => !hasKey(key)).map((key) => required(`data[${key}]`));
  switch (type) {
    case "kubernetes.io/service-account-token": {
      const account = objectAt(secret, "metadata", "annotations")["kubernetes.io/service-account.name"] ?? "";
      return account === "" ? [required("metadata.annotations[kubernetes.io/service-account.name]")] : NONE;
    }
    case "kubernetes.io/dockercfg":
    case "kubernetes.io/dockerconfigjson": {
      const key = DOCKER_KEYS[type] ?? "";
      return hasKey(key) ? validateJson(textAt(data, key), `data[${key}]`) : requireKeys(key);
    }
    case "kubernetes.io/basic-auth":
      return hasKey("username") || hasKey("password") ? NONE : requireKeys("username", "password");
    case "kubernetes.io/ssh-auth":
      return textAt(data, "ssh-privatekey") === "" ? [required("data[ssh-privatekey]")] : NONE;
    case "kubernetes.io/tls":
      return requireKeys("tls.crt", "tls.key");
    default:
      return NONE;
  }
}

function validateJson(encoded: string, field: string): Errors {
  const text = Buffer.from(encoded, "base64").toString();
  try {
    JSON.parse(text);
    return NONE;
  } catch {
    // Parser positions beyond the first character differ.
    const detail =
      text === ""
        ? "unexpected end of JSON input"
        : `invalid character '${text.trimStart()[0]}' looking for beginning of value`;
    return [invalid(field, "<secret contents redacted>", detail)];
  }
}

export const serviceAccounts: BuiltInRule = { countsGenerations: false };

const KUBERNETES = "kubernetes";

export const namespaces: BuiltInRule = {
  name: dnsLabel,
  countsGenerations: false,
  keepsStatus: true,
  prepareCreate: (namespace) => ({
    ...updateAt(namespace, "spec", (spec) => {
      const finalizers = Array.isArray(spec["finalizers"]) ? spec["finalizers"] : [];
      return finalizers.includes(KUBERNETES) ? spec : { ...spec, finalizers: [...finalizers, KUBERNETES] };
    }),
    status: { phase: "Active" },
  }),
  // Only /finalize writes them.
  prepareUpdate: (next, live) =>
    updateAt(next, "spec", (spec) => {
      const liveFinalizers = member(objectAt(live, "spec"), "finalizers");
      const { finalizers: _, ...rest } = spec;
      return liveFinalizers === undefined ? rest : { ...rest, finalizers: liveFinalizers };
    }),
};
