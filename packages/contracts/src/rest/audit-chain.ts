import { canonicalJson } from "@oaas/foundation";
import { auditEntryView, type AuditActor, type AuditEntry } from "./resources/service/audit-entry.ts";

/** SHA-256 of a text as hex digits; passed in because this module also runs in a browser. */
export type Sha256 = (text: string) => string;

/** `prev` of the first line of a chain. */
export const CHAIN_START = "0".repeat(64);

/** Seals a line: adds its hash. */
export function sealAuditEntry(entry: Omit<AuditEntry, "hash">, sha256: Sha256): AuditEntry {
  return { ...entry, hash: sha256(canonicalJson(inCanonicalOrder(entry))) };
}

/** The same entry with its members in the order of canonical JSON, which saves sorting them. */
function inCanonicalOrder(entry: Omit<AuditEntry, "hash">): Required<Omit<AuditEntry, "hash">> {
  const { action, actor, correlation_id, id, instance, omitted, outcome, prev, reason, seq, status, target } = entry;
  const { address, issuer, name, role, subject } = actor;
  return {
    action,
    actor: { address, issuer, name, role, subject } satisfies Required<AuditActor>,
    correlation_id,
    id,
    instance,
    omitted,
    outcome,
    prev,
    reason,
    seq,
    status,
    target,
    time: entry.time,
    v: entry.v,
  };
}

/** The first line that breaks its chain. */
export interface BrokenLine {
  readonly line: number;
  readonly message: string;
}

/** A verified chain: the lines of one process. */
export interface VerifiedChain {
  readonly instance: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export type Verification =
  | { readonly ok: true; readonly lines: number; readonly chains: readonly VerifiedChain[] }
  | { readonly ok: false; readonly broken: BrokenLine };

/**
 * Verifies audit lines in the order in which they were written: each seals its content, and continues the chain of its process.
 *
 * Lines without a hash, such as log lines on the same output, are skipped: an audit line that was made into one leaves a gap.
 *
 * *Caveats*: a rotated file may begin in the middle of a chain, so the first line of a process is accepted at any position. Lines that
 * are missing at the end, or a process whose lines are all missing, cannot be detected from the lines alone.
 */
export function verifyAuditLines(lines: Iterable<string>, sha256: Sha256): Verification {
  const chains = new Map<string, { first: AuditEntry; last: AuditEntry }>();
  let line = 0;
  let verified = 0;
  for (const text of lines) {
    line += 1;
    if (!text.includes('"hash":')) continue;
    const entry = parseLine(text);
    if (entry === undefined) return { ok: false, broken: { line, message: "is not an audit line" } };
    const chain = chains.get(entry.instance);
    const message = problemOf(entry, chain?.last, sha256);
    if (message !== undefined) return { ok: false, broken: { line, message } };
    chains.set(entry.instance, { first: chain?.first ?? entry, last: entry });
    verified += 1;
  }
  return {
    ok: true,
    lines: verified,
    chains: [...chains].map(([instance, { first, last }]) => ({ instance, firstSeq: first.seq, lastSeq: last.seq })),
  };
}

function parseLine(text: string): AuditEntry | undefined {
  try {
    const read = auditEntryView.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

function problemOf({ hash, ...entry }: AuditEntry, last: AuditEntry | undefined, sha256: Sha256): string | undefined {
  if (sha256(canonicalJson(entry)) !== hash) return "was changed: its hash does not match its content";
  if (last === undefined)
    return entry.seq === 1 && entry.prev !== CHAIN_START
      ? "is the first line of its chain but continues another"
      : undefined;
  if (entry.seq !== last.seq + 1)
    return `is line ${entry.seq} of ${entry.instance}, after line ${last.seq}: lines were removed, added or reordered`;
  return entry.prev === last.hash ? undefined : "does not continue the line before it: that line was replaced";
}
