/** The steps of cases, counted from one, that show a row of docs/apiserver-differences.md. */
interface KnownDifference {
  readonly id: string;
  readonly shows: readonly { readonly subject: string; readonly name: string; readonly steps: readonly number[] }[];
}

const KNOWN: readonly KnownDifference[] = [
  {
    id: "parser-words",
    shows: [
      { subject: "apply", name: "rejects invalid YAML", steps: [1] },
      { subject: "schemas", name: "rejects a definition: an invalid pattern", steps: [1] },
      { subject: "wrong input", name: "bytes: invalid YAML", steps: [1] },
    ],
  },
  {
    id: "not-served",
    shows: [
      { subject: "discovery", name: "discovery of nodes", steps: [1] },
      { subject: "discovery", name: "discovery of pods", steps: [1] },
      { subject: "discovery", name: "lists the groups", steps: [1] },
    ],
  },
  {
    id: "version-text",
    shows: [{ subject: "discovery", name: "version and health endpoints", steps: [1] }],
  },
  {
    id: "explain-prose",
    shows: [{ subject: "kubectl", name: "explain", steps: [1, 3] }],
  },
  {
    id: "pod-conditions",
    shows: [
      { subject: "workloads", name: "a Deployment becomes available", steps: [3] },
      { subject: "workloads", name: "status of a running pod", steps: [1] },
    ],
  },
  {
    id: "claims-bound",
    shows: [{ subject: "workloads", name: "a StatefulSet keeps one claim per pod", steps: [1] }],
  },
];

/** The ids of the differences that the steps of a case show, by step number. */
export function knownDifferences(subject: string, name: string): ReadonlyMap<number, string> {
  const places = KNOWN.flatMap(({ id, shows }) => shows.map((place) => ({ id, ...place })));
  return new Map(
    places
      .filter((place) => place.subject === subject && place.name === name)
      .flatMap(({ id, steps }) => steps.map((step) => [step, id] as const)),
  );
}
