import type { Result, Violation } from "@oaas/foundation";
import type { RenderInput } from "../rendering/model/render-input.ts";
import type { Rendered } from "../rendering/model/rendered.ts";

/** What speaks for a template, or why it cannot serve this class here. */
export interface TemplateScore {
  /** False: it must not be used, not even by name. */
  readonly eligible: boolean;
  readonly score: number;
  readonly because: readonly string[];
}

/** A way to run a class. */
export interface Template {
  readonly id: string;
  readonly aliases: readonly string[];
  /** Taken only when a class or its environment names it; never by its score. */
  readonly byNameOnly: boolean;
  /** Revision of a user template: another one renders other children. */
  readonly revision?: string;
  score(input: RenderInput): TemplateScore;
  render(input: RenderInput): Result<Rendered, readonly Violation[]>;
}

/**
 * Why a class cannot be rendered here.
 *
 * - `missing`: it names a template that does not exist (reason TemplateMissing, FAILED_PRECONDITION)
 * - `not-eligible`: the template it names cannot serve it here (FAILED_PRECONDITION)
 * - `addon-unknown`, `addon-disabled`: it needs an addon that is not to be had (OdgmDisabled for `odgm`,
 *   FAILED_PRECONDITION)
 * - `invalid`: the spec itself is at fault; violations name every field (ApplyInvalid, INVALID_ARGUMENT)
 */
export interface Refusal {
  readonly kind: "missing" | "not-eligible" | "addon-unknown" | "addon-disabled" | "invalid";
  /** One sentence for people. */
  readonly message: string;
  /** Names that would have been accepted in place of the one refused. */
  readonly known: readonly string[];
  readonly addon?: string;
  readonly violations: readonly Violation[];
}
