// Plain JavaScript, so that the git hook runs on any installed Node version.

/** Allowed commit types. */
export const TYPES = ["feat", "fix", "perf", "refactor", "test", "docs", "build", "ci", "chore", "revert"];

/** The folders of the repository, and a few cross-cutting areas. */
export const SCOPES = [
  "pm",
  "crm",
  "cli",
  "console",
  "dev-stack",
  "foundation",
  "certificates",
  "config",
  "observability",
  "models",
  "nfr",
  "promql",
  "prometheus-client",
  "contracts",
  "storage",
  "kube-core",
  "kube-runtime",
  "kube-apiserver",
  "rpc",
  "service-shell",
  "real-components",
  "stack-folder",
  "testkit",
  "test-store",
  "bench",
  "deploy",
  "docs",
  "tools",
  "ci",
  "deps",
  "examples",
  "tests",
  "conformance",
];

/** Git tools cut longer titles. */
const MAX_SUBJECT_LENGTH = 72;

const FORM = /^(?<type>[a-z]+)(?:\((?<scope>[a-z0-9-]+)\))?!?: (?<title>\S.*)$/;

/**
 * Returns what is wrong with a commit's subject line, or undefined when it is valid.
 * @param {string} subject
 * @returns {string | undefined}
 */
export function subjectProblem(subject) {
  if (/^(Merge|Revert) /.test(subject)) return undefined;
  const match = FORM.exec(subject);
  if (!match?.groups) return 'is not of the form "type(scope): title"';
  const { type = "", scope, title = "" } = match.groups;
  if (!TYPES.includes(type)) return `has the unknown type "${type}"; known are ${TYPES.join(", ")}`;
  if (scope !== undefined && !SCOPES.includes(scope))
    return `has the unknown scope "${scope}"; known are ${SCOPES.join(", ")}`;
  if (subject.length > MAX_SUBJECT_LENGTH)
    return `is ${subject.length} characters long; the limit is ${MAX_SUBJECT_LENGTH}`;
  if (title.endsWith(".")) return "ends with a full stop";
  return undefined;
}

/**
 * Returns what is wrong with a whole commit message, or undefined when it is valid.
 * @param {string} message
 * @returns {string | undefined}
 */
export function messageProblem(message) {
  const [subject = "", ...rest] = message.split("\n");
  if (/^(Merge|Revert) /.test(subject)) return undefined;
  const problem = subjectProblem(subject);
  if (problem !== undefined) return problem;
  const body = rest
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .trim();
  return body === "" ? "has no body; say why the change is made" : undefined;
}
