import { expect, test } from "vitest";
import recorded from "../../../testdata/recorded/structural-schemas.json" with { type: "json" };
import { formatFieldError, type FieldError } from "../field-error.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { validateStructurality } from "./structurality.ts";

interface Case {
  readonly why: string;
  readonly schema: StructuralSchema;
  readonly causes: readonly FieldError[];
}

/** The path of the schema when a definition has one for all its versions. */
const ROOT = "spec.validation.openAPIV3Schema";

/** Definition admission checks a default by validating it as a value. */
const ABOUT_DEFAULTS: ReadonlySet<string> = new Set([
  "default of another type",
  "default with unknown field",
  "default at the root",
]);

/** Only that a pattern is invalid is compared; the reason comes from Go's parser. */
const words = (error: FieldError): string =>
  `${error.reason} ${formatFieldError(error)}`.replace(/(but isn't): error parsing.*$/, "$1");

const cases = (recorded as unknown as readonly Case[]).filter(({ why }) => !ABOUT_DEFAULTS.has(why));

test.each(cases)("$why", ({ schema, causes }) => {
  expect(validateStructurality(schema, ROOT).map(words).sort()).toEqual(causes.map(words).sort());
});
