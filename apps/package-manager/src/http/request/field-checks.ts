import type { ParsedUrlQuery } from "node:querystring";
import { FIELD_VALIDATION_PARAMETER, FIELD_VALIDATIONS, HEADERS, type FieldValidation } from "@oaas/contracts/rest";
import {
  countViolations,
  formatWarnings,
  invalidArgument,
  joinViolations,
  violationText,
  type Violation,
} from "@oaas/foundation";
import type { HttpReply } from "../handler.ts";

/** Treats the unknown fields and query parameters of one request as its `field_validation` says. */
export class FieldChecks {
  readonly #mode: FieldValidation;
  #warnings: readonly Violation[] = [];

  constructor(query: ParsedUrlQuery) {
    this.#mode = modeIn(query);
  }

  /** The unknown fields that reject the request; the others become warnings or are dropped. */
  rejected(find: () => readonly Violation[]): readonly Violation[] {
    if (this.#mode === "ignore") return [];
    const found = find();
    if (this.#mode === "strict" || found.length === 0) return found;
    this.#warnings = joinViolations(this.#warnings, found);
    return [];
  }

  /** The reply with a header of the warnings, if there are any. */
  withWarnings(reply: HttpReply): HttpReply {
    if (this.#warnings.length === 0) return reply;
    const texts = this.#warnings.filter(({ omitted }) => omitted === undefined).map(violationText);
    const warning = formatWarnings(texts, countViolations(this.#warnings));
    return { ...reply, headers: { ...reply.headers, [HEADERS.warning]: warning } };
  }
}

function modeIn({ [FIELD_VALIDATION_PARAMETER]: value }: ParsedUrlQuery): FieldValidation {
  const mode = value === undefined ? "strict" : FIELD_VALIDATIONS.find((each) => each === value);
  if (mode !== undefined) return mode;
  const message = Array.isArray(value) ? "is repeated" : "is not a field validation";
  const fix = Array.isArray(value) ? "set it once" : `use ${FIELD_VALIDATIONS.join(", ")}`;
  throw invalidArgument("the query", [{ path: `$.${FIELD_VALIDATION_PARAMETER}`, message, fix }]);
}
