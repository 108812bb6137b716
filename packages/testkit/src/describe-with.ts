/* oxlint-disable vitest/no-disabled-tests, vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests, vitest/expect-expect -- this file makes suites; it is not one */
import { missingComponents, type ComponentFileName, type ComponentName } from "@oaas/real-components";
import { describe, it } from "vitest";

/** What a suite may need. */
export type Needed = ComponentName | ComponentFileName;

/**
 * A suite that needs real components. When one is missing the suite is skipped and says so on standard error, with the
 * remedy; with CI=true it fails instead, because nobody reads skips there.
 */
export function describeWith(components: readonly Needed[], title: string, body: () => void): void {
  const missing = missingComponents(components);
  if (missing.length === 0) {
    describe(title, body);
    return;
  }
  const reason = missing.join("; ");
  if (process.env["CI"] === "true") {
    describe(title, () => {
      it("has its components", () => {
        throw new Error(reason);
      });
    });
    return;
  }
  skipLoudly(title, reason, body);
}

/** A suite that is left out, and says why on standard error and in its title. */
export function skipLoudly(title: string, reason: string, body: () => void): void {
  process.stderr.write(`SKIPPED "${title}": ${reason}\n`);
  describe.skip(`${title} [skipped: ${reason}]`, body);
}
