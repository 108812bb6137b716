import type { Violation } from "@oaas/foundation";

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
