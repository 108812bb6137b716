import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { ROLES, type Role } from "../../routes/route.ts";

/** Version of the schema of audit lines. */
export const AUDIT_VERSION = 1;

/** Who attempted a change. */
const auditActorView = view({
  subject: field("Identity: `sub` of a JWT, name in the token file, or `anonymous@address`.", z.string()),
  name: field("Name for people. The user may have chosen it when `issuer` is set.", z.string()),
  issuer: field("Issuer of the JWT; null for other credentials.", z.string().nullable()),
  role: field("Role; `public` when none was established.", z.enum(ROLES)),
  address: field("Network address of the client.", z.string()),
});

/** One line of the audit trail. `hash` seals the line, `prev` chains it to the line before it. */
export const auditEntryView = view({
  v: field("Version of this schema.", z.literal(AUDIT_VERSION)),
  time: field("Time of the line.", z.string()),
  instance: field("Process that wrote the line; each has its own chain.", z.string()),
  seq: field("Position in the chain, starting at 1.", z.int()),
  id: field("Id of the attempt; the lines of its start and its end share it.", z.string()),
  actor: field("Who attempted the change.", auditActorView),
  action: field("Operation id.", z.string()),
  target: field("What the change is about: a URL or a name.", z.string()),
  outcome: field(
    "`started` before the change is made, then `succeeded`, `refused` (the caller's error) or `failed`. `started` without an end: the process ended in between.",
    z.enum(["started", "succeeded", "refused", "failed"]),
  ),
  status: field("HTTP status of the response; null while it is unknown.", z.int().nullable()),
  reason: field("Why it was refused or failed; null otherwise.", z.string().nullable()),
  correlation_id: field("Correlation id of the request.", z.string()),
  omitted: field("Attempts without valid credentials that were not recorded before this line.", z.int()),
  prev: field("`hash` of the line before it in the chain; 64 zeros in the first line.", z.string()),
  hash: field("SHA-256 of this line without `hash`, in canonical JSON (RFC 8785), as hex digits.", z.string()),
});

export interface AuditActor {
  readonly subject: string;
  readonly name: string;
  readonly issuer: string | null;
  readonly role: Role;
  readonly address: string;
}

export interface AuditEntry {
  readonly v: typeof AUDIT_VERSION;
  readonly time: string;
  readonly instance: string;
  readonly seq: number;
  readonly id: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly target: string;
  readonly outcome: "started" | "succeeded" | "refused" | "failed";
  readonly status: number | null;
  readonly reason: string | null;
  readonly correlation_id: string;
  readonly omitted: number;
  readonly prev: string;
  readonly hash: string;
}
