/* oxlint-disable vitest/no-disabled-tests, vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests, vitest/expect-expect -- this file makes suites; it is not one */
import { missingComponents, type ComponentFileName, type ComponentName } from "@oaas/real-components";
import { describe, it } from "vitest";

export type Needed = ComponentName | ComponentFileName;

/**
 * A suite that needs real components. If one is missing, the suite is skipped and prints the fix to standard error;
 * with CI=true it fails instead, because skips go unnoticed there.
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
  skipWithReason(title, reason, body);
}

/** Skips a suite and prints the reason to standard error and in its title. */
export function skipWithReason(title: string, reason: string, body: () => void): void {
  process.stderr.write(`SKIPPED "${title}": ${reason}\n`);
  describe.skip(`${title} [skipped: ${reason}]`, body);
}
