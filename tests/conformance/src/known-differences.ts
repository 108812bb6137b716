/** Where a row of docs/apiserver-differences.md shows: the steps of cases, counted from one. */
interface KnownDifference {
  readonly id: string;
  readonly shows: readonly { readonly subject: string; readonly name: string; readonly steps: readonly number[] }[];
}

const KNOWN: readonly KnownDifference[] = [
  {
    id: "parser-words",
    shows: [
      { subject: "apply", name: "what is no YAML is refused", steps: [1] },
      { subject: "schemas", name: "refused: a pattern that is none", steps: [1] },
      { subject: "wrong input", name: "bytes: YAML that is none", steps: [1] },
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
    id: "version-text",
    shows: [{ subject: "discovery", name: "what the server is", steps: [1] }],
  },
  {
    id: "explain-prose",
    shows: [{ subject: "kubectl", name: "explain", steps: [1, 3] }],
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
