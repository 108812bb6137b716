import { z } from "zod";
import { field, view } from "../../reading/fields.ts";

/** What a list shows of a package, in a fraction of its size. */
export const packageSummaryView = view({
  name: field("Name of the package.", z.string()),
  version: field("The author's version label; null if none.", z.string().nullable()),
  description: field("Description; null if none.", z.string().nullable()),
  tags: field("Tags.", z.array(z.string()).readonly()),
  classes: field("Keys of its classes.", z.array(z.string()).readonly()),
  functions: field("Number of its functions.", z.int()),
  disabled: field("Whether the package cannot be deployed.", z.boolean()),
  created_at: field("Registration time; null when unknown.", z.string().nullable()),
  updated_at: field("Time of the last change; null when unknown.", z.string().nullable()),
});

/** A package in a dependency graph. */
export const dependencyNodeView = view({
  name: field("Name of the package.", z.string()),
  state: field("`missing`: needed, but not registered.", z.enum(["available", "disabled", "missing"])),
});

/** A direct dependency. */
export const dependencyEdgeView = view({
  from: field("The package that needs the other one.", z.string()),
  to: field("The package that is needed.", z.string()),
});

/** The packages that a package needs, directly or not, and those that need it. */
export const dependencyGraphView = view({
  packages: field("The package itself, then the nearest others; at most 200.", z.array(dependencyNodeView).readonly()),
  dependencies: field(
    "Direct dependencies between these packages, the nearest first; at most 500.",
    z.array(dependencyEdgeView).readonly(),
  ),
  total_packages: field("Number of packages with those that are left out.", z.int()),
  total_dependencies: field("Number of direct dependencies with those that are left out.", z.int()),
});
