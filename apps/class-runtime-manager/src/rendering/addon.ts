import type { Result, Violation } from "@oaas/foundation";
import type { ClassPlan, FunctionPlan } from "./plan/class-plan.ts";
import type { Env } from "./manifests/env.ts";
import type { FunctionFiles } from "./manifests/pod.ts";
import type { Manifest, RenderedOdgm } from "./model/rendered.ts";
import type { RenderInput } from "./model/render-input.ts";

/**
 * An optional component that a class can use beside its functions. It renders its own objects and adds environment
 * variables to functions. Templates do not know addons by name.
 */
export interface Addon {
  /** The name in `addons`, in lower case. */
  readonly id: string;
  /** Whether a class without an `addons` list gets it. */
  isImplied(input: RenderInput): boolean;
  /** Whether the class disables it in the addon's own settings; this overrides the `addons` list. */
  isDisabled(input: RenderInput): boolean;
  /** Whether a class that does not select the addon keeps it, because it would lose data without it. */
  isKept(input: RenderInput): boolean;
  /** Why the addon is unavailable to the class in this cluster; undefined when it is available. */
  unavailableReason(input: RenderInput): string | undefined;
  /**
   * Renders the objects of the addon. Paths of violations start at the spec of the class. `isSelected` is false when the
   * class only keeps it.
   */
  render(plan: ClassPlan, isSelected: boolean): Result<RenderedAddon, readonly Violation[]>;
}

/** The rendered objects and settings of an addon. */
export interface RenderedAddon {
  readonly children: readonly Manifest[];
  /** Environment variables that it adds to a function. */
  functionEnv(fn: FunctionPlan): Env;
  /** Address that functions wait for before they start. */
  readonly waitFor?: { readonly host: string; readonly port: number };
  /** ConfigMap whose files functions can read. */
  readonly functionFiles?: FunctionFiles;
  readonly odgm?: RenderedOdgm;
  /** Function runtimes that it hosts. */
  readonly hosts: readonly FunctionPlan["runtime"][];
  readonly warnings: readonly Violation[];
}
