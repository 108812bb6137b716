import { isSecretValue, redactMember } from "@oaas/observability/secrets";
import { isObjectData } from "./object-data.ts";

/** A member, an index, or the item of a list with these key fields. */
export type Step = string | number | ItemKey;

/** The fields that identify an item of a list, such as the name of a container. */
export interface ItemKey {
  readonly key: string;
}

const MAX_VALUE_LENGTH = 96;
const MAX_PATH_LENGTH = 256;

const MASKED = "(masked)";

/** The path of a field, such as `.spec.template.spec.containers[name=fn].image`. */
export function pathText(steps: readonly Step[]): string {
  const text = steps
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      if (typeof step === "object") return `[${step.key}]`;
      return /^[A-Za-z0-9_-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("");
  return text.length <= MAX_PATH_LENGTH ? text : `${text.slice(0, MAX_PATH_LENGTH - 1)}…`;
}

/** The JSON of a field of an object of this kind, shortened; masked if it may be a secret. `absent` without a value. */
export function valueText(kind: string, steps: readonly Step[], value: unknown, absent: string): string {
  if (value === undefined) return absent;
  if (isSecret(kind, steps, value)) return MASKED;
  const last = steps.at(-1);
  const shown = typeof last === "string" ? redactMember(last, value) : value;
  const text = JSON.stringify(shown) ?? absent;
  return text.length <= MAX_VALUE_LENGTH ? text : `${text.slice(0, MAX_VALUE_LENGTH - 1)}…`;
}

/** The length of a list stands for its items, which may contain secrets. */
export function itemCount(value: unknown): unknown {
  return Array.isArray(value) ? `${value.length} ${value.length === 1 ? "item" : "items"}` : value;
}

/** The content of Secrets and ConfigMaps, and values of environment variables unless their name shows that they are none. */
function isSecret(kind: string, steps: readonly Step[], value: unknown): boolean {
  const [first] = steps;
  const holdsData = typeof first === "string" && isObjectData(kind, first);
  if (holdsData || steps.at(-1) !== "value" || steps.at(-3) !== "env") return holdsData;
  const item = steps.at(-2);
  return typeof item !== "object" || isSecretValue(item.key.slice("name=".length), String(value));
}
