/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests, vitest/expect-expect -- this file makes suites; it is not one */
import { missingForNodes } from "@oaas/real-components";
import { describe, it } from "vitest";
import { skipWithReason } from "../describe-with.ts";

/**
 * A suite on real nodes. Where the machine cannot run one, it is skipped with the reason; with CI=true it fails instead.
 * Await it at the top of a file.
 */
export async function describeOnNodes(title: string, body: () => void): Promise<void> {
  const missing = await missingForNodes();
  if (missing.length === 0) {
    describe(title, body);
    return;
  }
  const reason = missing.join("; ");
  if (process.env["CI"] !== "true") return skipWithReason(title, reason, body);
  describe(title, () => {
    it("can run real nodes", () => {
      throw new Error(reason);
    });
  });
}
