import { isIP } from "node:net";

/** Violations of a name, with the real server's messages. `isPrefix`: more characters will be appended. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = String.raw`${LABEL}(\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE = `(${QUALIFIED})?`;
const CONFIG_KEY = "[-._a-zA-Z0-9]+";

const LABEL_WORDS = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const SUBDOMAIN_WORDS = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const QUALIFIED_WORDS = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const LABEL_VALUE_WORDS = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`;
const CONFIG_KEY_WORDS = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${CONFIG_KEY}')`;
export const IP_WORDS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR_WORDS = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const PERCENT_WORDS =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

const FORMS = {
  label: whole(LABEL),
  subdomain: whole(SUBDOMAIN),
  qualified: whole(QUALIFIED),
  labelValue: whole(LABEL_VALUE),
  configKey: whole(CONFIG_KEY),
};

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

/** A DNS label of at most 63 characters: namespaces, services, parts of objects. */
export const dnsLabel: NameRule = (name, isPrefix) =>
  checked(masked(name, isPrefix), 63, FORMS.label, LABEL_WORDS, name.includes("."));

/** Labels joined by dots, at most 253 characters: most objects. */
export const dnsSubdomain: NameRule = (name, isPrefix) =>
  checked(masked(name, isPrefix), 253, FORMS.subdomain, SUBDOMAIN_WORDS, false);

/** A path segment: names of roles. */
export const pathSegment: NameRule = (name) => {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
};

/** A name to which a suffix will be appended. */
export function dnsSubdomainUpTo(maxPrefix: number): NameRule {
  return (name, isPrefix) => [
    ...dnsSubdomain(name, isPrefix),
    ...(name.length > maxPrefix ? [`must be no more than ${maxPrefix} characters`] : []),
  ];
}

/** A prefix may end in a dash; a placeholder replaces it for the check. */
function masked(name: string, isPrefix: boolean): string {
  return isPrefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}

function checked(name: string, maxPrefix: number, form: RegExp, words: string, hasDots: boolean): readonly string[] {
  return [
    ...(name.length > maxPrefix ? [`must be no more than ${maxPrefix} characters`] : []),
    ...(form.test(name) ? [] : [hasDots ? "must not contain dots" : words]),
  ];
}

/** A key of a label or annotation, a finalizer, a resource. */
export function qualifiedName(key: string): readonly string[] {
  const parts = key.split("/");
  if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_WORDS} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  return [
    ...(prefix === undefined ? [] : validatePrefix(prefix)),
    ...(name === "" ? ["name part must be non-empty"] : []),
    ...(name.length > 63 ? ["name part must be no more than 63 bytes"] : []),
    ...(FORMS.qualified.test(name) ? [] : [`name part ${QUALIFIED_WORDS}`]),
  ];
}

function validatePrefix(prefix: string): readonly string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  return dnsSubdomain(prefix, false).map((detail) => `prefix part ${detail}`);
}

export function labelValue(value: string): readonly string[] {
  return [
    ...(value.length > 63 ? ["must be no more than 63 bytes"] : []),
    ...(FORMS.labelValue.test(value) ? [] : [LABEL_VALUE_WORDS]),
  ];
}

/** A key of a ConfigMap or Secret. */
export function configMapKey(key: string): readonly string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(FORMS.configKey.test(key) ? [] : [CONFIG_KEY_WORDS]),
    ...(key === "." || key === ".." ? [`must not be '${key}'`] : []),
    ...(key !== ".." && key.startsWith("..") ? ["must not start with '..'"] : []),
  ];
}

export function environmentName(name: string): readonly string[] {
  return /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** A port name. */
export function portName(name: string): readonly string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    return problems;
  }
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) problems.push("must not begin or end with a hyphen");
  return problems;
}

export function portNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? [] : ["must be between 1 and 65535, inclusive"];
}

/** A port by number or name. */
export function portNumberOrName(port: unknown): readonly string[] {
  return typeof port === "string" ? portName(port) : portNumber(Number(port ?? 0));
}

export function ipAddress(text: string): readonly string[] {
  return isIP(text) === 0 ? [IP_WORDS] : [];
}

export function cidr(text: string): readonly string[] {
  const [address = "", bits = "", ...more] = text.split("/");
  const maxPrefix = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const isValid = more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxPrefix;
  return isValid ? [] : [CIDR_WORDS];
}

export function percent(text: string): readonly string[] {
  return /^[0-9]+%$/.test(text) ? [] : [PERCENT_WORDS];
}

/** A domain and a path, as in classes and finalizers: `acme.io/foo`. */
export function domainPrefixedPath(text: string): readonly string[] {
  const slash = text.indexOf("/");
  if (slash <= 0 || slash === text.length - 1) return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  return dnsSubdomain(text.slice(0, slash), false).map((detail) => `prefix part ${detail}`);
}
