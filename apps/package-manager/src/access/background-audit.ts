import type { BackgroundAudit } from "../ports.ts";
import type { AuditTrail } from "./audit.ts";

/** Records automatic changes in the audit trail, with a part of the package manager as their actor. */
export function backgroundAudit(trail: Pick<AuditTrail, "begin">): BackgroundAudit {
  return {
    begin: ({ by, ...attempt }) => {
      const actor = { subject: by, name: by, issuer: null, role: "deployer", address: "" } as const;
      return trail.begin({ ...attempt, actor });
    },
  };
}
