import { ROOT_PATH, type Violation } from "@oaas/foundation";

/**
 * Name formats of Kubernetes:
 *
 * - `dns-1123-label`: most children's names (services need 1035), 63 characters
 * - `dns-1035-label`: the same, starting with a letter (services, names of container ports)
 * - `dns-1123-subdomain`: most objects' names, labels joined by dots, 253 characters
 * - `label-value`: mixed case, dots and underscores, may be empty, 63 characters
 */
export type NameKind = "dns-1123-label" | "dns-1035-label" | "dns-1123-subdomain" | "label-value";

interface NameRule {
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly is: string;
  readonly fix: string;
}

/** The rules by kind. The patterns match whole names. */
export const NAME_RULES = {
  "dns-1123-label": {
    pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
    maxLength: 63,
    is: "DNS label",
    fix: "use lower-case letters, digits and '-', with a letter or digit at both ends",
  },
  "dns-1035-label": {
    pattern: /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/,
    maxLength: 63,
    is: "DNS-1035 label",
    fix: "use lower-case letters, digits and '-', beginning with a letter and not ending in '-'",
  },
  "dns-1123-subdomain": {
    pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
    maxLength: 253,
    is: "DNS subdomain",
    fix: "use lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part between dots",
  },
  "label-value": {
    pattern: /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
    maxLength: 63,
    is: "label value",
    fix: "use letters, digits, '-', '_' and '.', with a letter or digit at both ends, or leave it empty",
  },
} as const satisfies Record<NameKind, NameRule>;

const QUALIFIED_PART: NameRule = {
  pattern: /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  maxLength: 63,
  is: "label key",
  fix: "use letters, digits, '-', '_' and '.', with a letter or digit at both ends",
};

/** Returns all violations of a name; empty when it is valid. */
export function checkName(kind: NameKind, name: string): readonly Violation[] {
  return violationsOf(NAME_RULES[kind], name, "");
}

/** Whether a name is valid for this kind. */
export function isValidName(kind: NameKind, name: string): boolean {
  const { maxLength, pattern } = NAME_RULES[kind];
  return name.length <= maxLength && pattern.test(name);
}

/** Returns all violations of a label or annotation key: a name, or a domain and a name (`example.com/app`). */
export function checkQualifiedName(key: string): readonly Violation[] {
  const parts = key.split("/");
  const name = parts.at(-1) ?? "";
  if (parts.length > 2) {
    return [{ path: ROOT_PATH, message: `"${key}" has more than one '/'`, fix: "write a name, or <domain>/<name>" }];
  }
  const [prefix] = parts.length === 2 ? parts : [];
  return [
    ...(prefix === undefined ? [] : violationsOf(NAME_RULES["dns-1123-subdomain"], prefix, "the part before '/': ")),
    ...violationsOf(QUALIFIED_PART, name, prefix === undefined ? "" : "the part after '/': "),
  ];
}

function violationsOf(rule: NameRule, name: string, where: string): Violation[] {
  const violations: Violation[] = [];
  if (name.length > rule.maxLength) {
    violations.push({
      path: ROOT_PATH,
      message: `${where}has ${name.length} characters, a ${rule.is} has at most ${rule.maxLength}`,
      fix: "shorten it",
    });
  }
  // The pattern is also checked for over-long names: it is linear, and both violations are reported at once.
  if (!rule.pattern.test(name)) {
    violations.push({ path: ROOT_PATH, message: `${where}"${name}" is not a ${rule.is}`, fix: rule.fix });
  }
  return violations;
}
