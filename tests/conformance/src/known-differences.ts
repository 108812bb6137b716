/** Where a row of docs/apiserver-differences.md shows: the steps of cases, counted from one. */
interface KnownDifference {
  readonly id: string;
  readonly shows: readonly { readonly subject: string; readonly name: string; readonly steps: readonly number[] }[];
}

const KNOWN: readonly KnownDifference[] = [
  {
    id: "generation-as-given",
    shows: [
      { subject: "verbs", name: "what the server gives out cannot be chosen: uid, times, generation", steps: [1] },
    ],
  },
  {
    id: "parser-words",
    shows: [
      { subject: "verbs", name: "a label selector that is none is refused", steps: [1, 2, 3] },
      { subject: "verbs", name: "a field selector on anything else is refused", steps: [3] },
      { subject: "apply", name: "what is no YAML is refused", steps: [1] },
      { subject: "schemas", name: "refused: a pattern that is none", steps: [1] },
      { subject: "paging", name: "a token that is none", steps: [1, 3] },
      { subject: "wrong input", name: "bytes: two objects", steps: [1] },
      { subject: "wrong input", name: "bytes: no UTF-8", steps: [1] },
      { subject: "wrong input", name: "bytes: zero bytes", steps: [1] },
      { subject: "wrong input", name: "bytes: a comment", steps: [1] },
      { subject: "wrong input", name: "bytes: YAML that is none", steps: [1] },
      { subject: "wrong input", name: "names with bytes that no name has", steps: [1] },
    ],
  },
  {
    id: "decoder-words",
    shows: [
      { subject: "verbs", name: "apiVersion and kind of the body must be those of the path", steps: [1, 3] },
      { subject: "patches", name: "merge: what is no JSON, and what is no object", steps: [4] },
      { subject: "patches", name: "strategic: a text where a number belongs", steps: [1] },
    ],
  },
  {
    id: "patch-replace-labels",
    shows: [{ subject: "patches", name: "strategic: a map is replaced by $patch: replace", steps: [1] }],
  },
  {
    id: "apply-without-name",
    shows: [{ subject: "apply", name: "the name must be there, and be that of the path", steps: [1] }],
  },
  {
    id: "apply-uid-of-nothing",
    shows: [{ subject: "apply", name: "a uid for what is not there is a conflict", steps: [1] }],
  },
  {
    id: "definition-words",
    shows: [
      { subject: "schemas", name: "refused: no storage version", steps: [1] },
      { subject: "schemas", name: "refused: two storage versions", steps: [1] },
      { subject: "schemas", name: "refused: a version with a bad name", steps: [1] },
      { subject: "schemas", name: "refused: status subresource with a scale of wrong paths", steps: [1] },
      { subject: "schemas", name: "refused: a column without a path", steps: [1] },
      { subject: "schemas", name: "refused: preserveUnknownFields", steps: [1] },
      { subject: "schemas", name: "the scope and the group of a definition stay", steps: [2] },
    ],
  },
  {
    id: "definition-defaults",
    shows: [{ subject: "schemas", name: "refused: a default of the wrong type", steps: [1] }],
  },
  {
    id: "stored-as-written",
    shows: [{ subject: "schemas", name: "several versions: each has its own schema", steps: [3, 4] }],
  },
  {
    id: "embedded-metadata",
    shows: [{ subject: "schemas", name: "values: an embedded object", steps: [3] }],
  },
  {
    id: "deprecation-on-list",
    shows: [{ subject: "schemas", name: "a deprecated version warns", steps: [1, 2] }],
  },
  {
    id: "watch-version",
    shows: [{ subject: "watches", name: "a version that is none", steps: [1] }],
  },
  {
    id: "bookmark-metadata",
    shows: [{ subject: "watches", name: "initial events end with a bookmark that says so", steps: [2] }],
  },
  {
    id: "watched-table-columns",
    shows: [{ subject: "watches", name: "events can come as rows of a table", steps: [4] }],
  },
  {
    id: "pod-deletion-version",
    shows: [
      { subject: "deletion", name: "a pod on no node goes at once, one on a node gets its grace", steps: [2, 3] },
    ],
  },
  {
    id: "finalizers-together",
    shows: [{ subject: "deletion", name: "names of finalizers follow the rules", steps: [3] }],
  },
  {
    id: "empty-dry-run",
    shows: [{ subject: "metadata", name: "dry run does all but keep", steps: [10] }],
  },
  {
    id: "strict-patch",
    shows: [
      { subject: "metadata", name: "field validation: patches", steps: [1] },
      { subject: "metadata", name: "field validation: kinds of definitions", steps: [5] },
      { subject: "kubectl", name: "an object of a definition is applied and edited", steps: [4] },
    ],
  },
  {
    id: "creation-time",
    shows: [{ subject: "metadata", name: "what stays as it is: selector of a Deployment, and more", steps: [2] }],
  },
  {
    id: "empty-details",
    shows: [
      { subject: "subresources", name: "a token for a service account", steps: [2] },
      { subject: "wrong input", name: "too large", steps: [1, 2] },
    ],
  },
  {
    id: "not-served",
    shows: [
      { subject: "discovery", name: "discovery tells of nodes", steps: [1] },
      { subject: "discovery", name: "discovery tells of pods", steps: [1] },
      { subject: "discovery", name: "discovery tells of services", steps: [1] },
      { subject: "discovery", name: "the list of groups", steps: [1] },
    ],
  },
  {
    id: "unknown-version",
    shows: [{ subject: "discovery", name: "groups and versions that are not there", steps: [3, 4] }],
  },
  {
    id: "version-text",
    shows: [{ subject: "discovery", name: "what the server is", steps: [1] }],
  },
  {
    id: "include-object",
    shows: [{ subject: "tables", name: "what a row carries can be chosen", steps: [4] }],
  },
  {
    id: "strange-bodies",
    shows: [
      { subject: "wrong input", name: "bytes: null", steps: [1] },
      { subject: "wrong input", name: "a very deep object", steps: [1] },
      { subject: "wrong input", name: "types: data of a ConfigMap are texts", steps: [8] },
    ],
  },
  {
    id: "pages-of-the-root",
    shows: [
      { subject: "wrong input", name: "paths that lead nowhere", steps: [7] },
      { subject: "wrong input", name: "methods that a path does not have", steps: [6] },
    ],
  },
  {
    id: "media-ranges",
    shows: [{ subject: "wrong input", name: "what cannot be accepted", steps: [1, 2, 4] }],
  },
  {
    id: "escalation",
    shows: [{ subject: "access", name: "nobody gives what they do not have", steps: [1, 2] }],
  },
  {
    id: "impersonation-words",
    shows: [{ subject: "access", name: "the administrator acts for another", steps: [3] }],
  },
  {
    id: "kubectl-describe",
    shows: [{ subject: "kubectl", name: "describe an object of a definition", steps: [1] }],
  },
  {
    id: "kubectl-takes-over",
    shows: [{ subject: "kubectl", name: "apply on the server's side after apply on the client's", steps: [2, 3] }],
  },
  {
    id: "explain-prose",
    shows: [
      { subject: "kubectl", name: "explain", steps: [1, 3] },
      { subject: "kubectl", name: "explain what a definition says", steps: [1] },
    ],
  },
  {
    id: "system-namespaces",
    shows: [{ subject: "garbage", name: "the namespaces of the system stay", steps: [1, 2] }],
  },
  {
    id: "pod-conditions",
    shows: [
      { subject: "workloads", name: "a Deployment becomes available", steps: [3] },
      { subject: "workloads", name: "a pod runs, and all that a node says of it", steps: [1] },
    ],
  },
  {
    id: "claims-bound",
    shows: [{ subject: "workloads", name: "a StatefulSet keeps claims by number", steps: [1] }],
  },
  {
    id: "kubectl-create-job",
    shows: [{ subject: "kubectl workloads", name: "a Job that is waited for", steps: [2, 3] }],
  },
];

/** The ids of the differences that the steps of a case show, by the number of the step. */
export function knownDifferences(subject: string, name: string): ReadonlyMap<number, string> {
  const places = KNOWN.flatMap(({ id, shows }) => shows.map((place) => ({ id, ...place })));
  return new Map(
    places
      .filter((place) => place.subject === subject && place.name === name)
      .flatMap(({ id, steps }) => steps.map((step) => [step, id] as const)),
  );
}
