import type { AuditActor } from "@oaas/contracts/rest";
import type { BackgroundAudit } from "../ports.ts";
import { BACKGROUND } from "../records/deployment-saga.ts";
import type { AuditTrail } from "./audit.ts";

const ACTOR: AuditActor = {
  subject: BACKGROUND.replanner,
  name: BACKGROUND.replanner,
  issuer: null,
  role: "deployer",
  address: "",
};

/** Records automatic changes in the audit trail, with the package manager as their actor. */
export function backgroundAudit(trail: Pick<AuditTrail, "begin">): BackgroundAudit {
  return { begin: (attempt) => trail.begin({ ...attempt, actor: ACTOR }) };
}
