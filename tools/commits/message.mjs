// Plain JavaScript, so that the git hook runs it with whatever Node is there.

/** What a commit may be. */
export const TYPES = ["feat", "fix", "perf", "refactor", "test", "docs", "build", "ci", "chore", "revert"];

/** Where: the folders of the repository, and the few things that are no folder. */
export const SCOPES = [
  "pm",
  "crm",
  "cli",
  "console",
  "dev-stack",
  "foundation",
  "config",
  "observability",
  "models",
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

/** A title that needs more is two commits. */
const LONGEST = 130;

const FORM = /^(?<type>[a-z]+)(?:\((?<scope>[a-z0-9-]+)\))?!?: (?<title>\S.*)$/;

/**
 * What is wrong with a commit's first line, or undefined.
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
  if (subject.length > LONGEST) return `is ${subject.length} characters long; ${LONGEST} is the most`;
  if (title.endsWith(".")) return "ends with a full stop";
  return undefined;
}
