import {
  BINDING_NAME,
  CLASS_KEY,
  CLUSTER_NAME,
  COLLECTION_NAME,
  COUNT_RANGE,
  DEPLOYMENT_KEY,
  FUNCTION_KEY,
  PACKAGE_NAME,
  PORT_RANGE,
  TEMPLATE_NAME,
  type TextRule,
} from "@oaas/models";
import { z } from "zod";
import { mapOf } from "../collections.ts";
import { withRules } from "../rule.ts";

/** A string with a domain rule, so that clusters accept what the package manager accepts. */
function ruledString(rule: TextRule) {
  return z
    .string()
    .min(1)
    .max(rule.maxLength)
    .regex(new RegExp(rule.pattern ?? ""));
}

export const packageName = ruledString(PACKAGE_NAME);
export const classKey = ruledString(CLASS_KEY);
export const functionKey = ruledString(FUNCTION_KEY);
export const bindingName = ruledString(BINDING_NAME);
export const collectionName = ruledString(COLLECTION_NAME);
export const deploymentKey = ruledString(DEPLOYMENT_KEY);
export const templateName = ruledString(TEMPLATE_NAME);
/** The name of a cluster, environment, addon or profile. */
export const shortName = ruledString(CLUSTER_NAME);

/** `package.Class`. */
export const qualifiedClassKey = ruledString({
  ...COLLECTION_NAME,
  maxLength: PACKAGE_NAME.maxLength + 1 + CLASS_KEY.maxLength,
});

/** A container image reference: the grammar of `parseImageReference` as one pattern. */
export const image = z.string().min(1).max(512).regex(imagePattern());

function imagePattern(): RegExp {
  const host = String.raw`([A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:]{2,39}\])(:\d{1,5})?`;
  const part = String.raw`[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`;
  const tag = String.raw`:\w[\w.-]{0,127}`;
  const digest = String.raw`@[a-z0-9]+([.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,128}`;
  return new RegExp(`^(${host}/)?${part}(/${part})*(${tag})?(${digest})?$`);
}

/** A non-negative quantity: 250m, 1.5, 512Mi, 1e3. */
export const QUANTITY_PATTERN = /^\+?(\d{1,18}(\.\d{0,9})?|\.\d{1,9})([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,2})?$/;

/** An amount of CPU, memory or storage. */
export const quantity = z.string().min(1).max(32).regex(QUANTITY_PATTERN);

/** A quantity or a bare number, as in `cpu: 1`. */
export const intOrQuantity = z.union([z.int().min(0), z.string().max(32).regex(QUANTITY_PATTERN)]);

/** A port a container listens on. */
export const port = z.int().min(PORT_RANGE.min).max(PORT_RANGE.max);

/** An unsigned 32-bit integer. */
export const count = z.int().min(COUNT_RANGE.min).max(COUNT_RANGE.max);

/** An unsigned 32-bit integer from 1. */
export const positive = z.int().min(1).max(COUNT_RANGE.max);

/** A number from 0 to 1. */
export const fraction = z.number().min(0).max(1);

/** A node or shard id of the state store; exact up to 2^53. */
export const odgmId = z.int().min(0);

/** An RFC 3339 timestamp. */
export const timestamp = z.iso.datetime({ offset: true });

/** A timestamp set by users. The rule rejects lists, which pass the server's check of a string with a format. */
export const userTimestamp = withRules(timestamp, {
  cel: "self >= timestamp('0001-01-01T00:00:00Z')",
  message: "must be an RFC 3339 timestamp, such as 2026-01-31T12:00:00Z",
  // The schema already checks the format.
  holds: () => true,
});

/** A human-readable text. */
export const text = z.string().max(4096);

/** URL of a WebAssembly module. */
export const moduleUrl = z
  .string()
  .min(1)
  .max(2048)
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/]/);

/** A map of strings, such as environment variables. */
export const stringMap = mapOf(z.string().max(32768), 256);

/** An enum value, accepted in snake_case, PascalCase and SCREAMING_CASE and normalized to snake_case. */
export function word<const W extends readonly [string, ...string[]]>(...words: W) {
  const spellings = new Map<string, W[number]>();
  for (const canonical of words) {
    for (const spelling of [canonical, pascalCase(canonical), canonical.toUpperCase()]) {
      spellings.set(spelling, canonical);
    }
  }
  return z.enum([...spellings.keys()]).transform((spelling): W[number] => spellings.get(spelling) ?? words[0]);
}

function pascalCase(snake: string): string {
  return snake.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
