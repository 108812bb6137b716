import type { DependencyGraph } from "../api/contract.ts";
import type { Graph } from "./graph.ts";

/** The dependency graph of a package, to be drawn. */
export function graphOfDependencies({ packages, dependencies }: DependencyGraph): Graph {
  return {
    nodes: packages.map(({ name, state }) => ({
      id: name,
      label: name,
      kind: "package",
      state,
      detail: "",
      href: state === "missing" ? undefined : `/packages/${encodeURIComponent(name)}`,
      count: 1,
    })),
    edges: dependencies.map((dependency) => ({ ...dependency, label: undefined })),
  };
}
