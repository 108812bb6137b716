import type { Result, Violation } from "@oaas/foundation";
import type { ScalingFacts } from "../rendering/model/cluster-facts.ts";
import type { RenderInput } from "../rendering/model/render-input.ts";
import type { Rendered } from "../rendering/model/rendered.ts";

/** Score of a template for a class, or why it is not eligible. */
export interface TemplateScore {
  /** False: it must not be used, even if named. */
  readonly eligible: boolean;
  readonly score: number;
  readonly because: readonly string[];
}

/** Renders classes in one way. */
export interface Template {
  readonly id: string;
  readonly aliases: readonly string[];
  /** Selected only if a class or its environment names it, never by score. */
  readonly byNameOnly: boolean;
  /** Revision of a user template; another revision renders other children. */
  readonly revision?: string;
  score(input: RenderInput): TemplateScore;
  /** Why functions cannot scale to zero with it in this cluster; undefined if they can. */
  whyNotToZero(cluster: ScalingFacts): string | undefined;
  render(input: RenderInput): Result<Rendered, readonly Violation[]>;
}

/**
 * Why a class cannot be rendered.
 *
 * - `missing`: it names an unknown template (reason TemplateMissing, FAILED_PRECONDITION)
 * - `not-eligible`: the template it names cannot run it in this cluster (FAILED_PRECONDITION)
 * - `addon-unknown`, `addon-disabled`: an addon is not available (OdgmDisabled for `odgm`, FAILED_PRECONDITION)
 * - `invalid`: the spec is invalid; violations name every field (ApplyInvalid, INVALID_ARGUMENT)
 */
export interface Refusal {
  readonly kind: "missing" | "not-eligible" | "addon-unknown" | "addon-disabled" | "invalid";
  /** One sentence for the user. */
  readonly message: string;
  /** Names that would have been accepted. */
  readonly known: readonly string[];
  readonly addon?: string;
  readonly violations: readonly Violation[];
}
