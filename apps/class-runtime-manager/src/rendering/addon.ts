import type { Result, Violation } from "@oaas/foundation";
import type { ClassPlan, FunctionPlan } from "./plan/class-plan.ts";
import type { ClusterFacts } from "./model/cluster-facts.ts";
import type { Env } from "./manifests/env.ts";
import type { Manifest, RenderedOdgm } from "./model/rendered.ts";
import type { RenderInput } from "./model/render-input.ts";

/**
 * Something a class may ask for beside its functions. It renders objects of its own and tells functions about them;
 * templates and their selection know none by name.
 */
export interface Addon {
  /** The word in `addons`, in lower case. */
  readonly id: string;
  /** Whether a class that states no addons gets it. */
  isImplied(input: RenderInput): boolean;
  /** Whether the class has switched it off in its own block, whatever its list of addons says. */
  isDisabled(input: RenderInput): boolean;
  /** Why this cluster does not offer it; undefined when it does. */
  unavailableReason(cluster: ClusterFacts): string | undefined;
  /** What it makes of a class. Paths of violations start at the class's spec. */
  render(plan: ClassPlan): Result<RenderedAddon, readonly Violation[]>;
}

/** What an addon adds to a class. */
export interface RenderedAddon {
  readonly children: readonly Manifest[];
  /** Variables of one function. */
  functionEnv(fn: FunctionPlan): Env;
  /** What functions should wait for before they start. */
  readonly waitFor?: { readonly host: string; readonly port: number };
  readonly odgm?: RenderedOdgm;
  /** Functions' runtimes that it hosts. */
  readonly hosts: readonly FunctionPlan["runtime"][];
  readonly warnings: readonly Violation[];
}
