import type { KubeObject } from "@oaas/kube-core";
import { isSecretValue, REDACTED, redactText } from "@oaas/observability/secrets";
import { isObjectData } from "../../lifecycle/status/object-data.ts";

type Members = Readonly<Record<string, unknown>>;

/** Names of objects and files, which are no secrets although "secret" or "token" is in their name. */
const REFERENCE = /(?:Name|Path|Ref)$/;

/**
 * The object with `***` for secrets: the content of Secrets and ConfigMaps, values of environment variables and of other
 * fields whose name or text shows a credential. The names of all fields stay.
 */
export function maskObject(object: KubeObject): object {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [
      key,
      isObjectData(object.kind, key) ? maskAll(value) : maskMember(key, value),
    ]),
  );
}

function maskAll(value: unknown): unknown {
  if (!isMembers(value)) return REDACTED;
  return Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED]));
}

function maskMember(key: string, value: unknown): unknown {
  if (typeof value === "string") return maskText(key, value);
  if (Array.isArray(value)) return value.map((item) => maskMember("", item));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, maskMember(nameOf(name, value), member)]),
  );
}

/** The value of an item `{name, value}`, as in environment variables, has the name of the item. */
function nameOf(member: string, siblings: Members): string {
  return member === "value" && typeof siblings["name"] === "string" ? siblings["name"] : member;
}

function maskText(key: string, text: string): string {
  return !REFERENCE.test(key) && isSecretValue(key, text) ? REDACTED : redactText(text);
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
