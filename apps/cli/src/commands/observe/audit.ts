import type { Reply } from "@oaas/contracts/rest";
import { sha256Hex } from "@oaas/foundation/hash";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { auditView } from "../../output/views.ts";
import type { Session } from "../../session/session.ts";

type AuditEntries = Reply<"listAudit">["value"];

interface AuditFlags {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  readonly since?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 50;
const MAX_PAGE = 1000;

/** Lists attempted changes, newest first. */
export async function listAudit(session: Session, flags: AuditFlags): Promise<void> {
  const { actor, action, target, limit = DEFAULT_LIMIT } = flags;
  const query = { actor, action, target, since: sinceOf(flags.since, session) };
  const entries: AuditEntries[number][] = [];
  let token: string | null = null;
  do {
    const size = Math.min(limit - entries.length, MAX_PAGE);
    const page: Reply<"listAudit"> = await session.call("listAudit", {
      query: { ...query, limit: size, ...(token === null ? {} : { page_token: token }) },
    });
    entries.push(...page.value);
    token = page.nextPageToken;
  } while (token !== null && entries.length < limit);
  session.printList(entries, auditView({ now: session.environment.clock.now(), colours: session.colours }));
}

/** A time, or the time so long ago. */
function sinceOf(text: string | undefined, { environment }: Session): string | undefined {
  const { count, unit = "" } = /^(?<count>\d{1,6})(?<unit>[smhd])$/.exec(text ?? "")?.groups ?? {};
  if (count === undefined) return text;
  const size = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 0;
  return new Date(environment.clock.now() - Number(count) * size).toISOString();
}

/** Verifies the hash chain of audit lines in files, in the given order, and names the first broken line. */
export async function verifyAudit(session: Session, _flags: object, ...files: readonly string[]): Promise<ExitCode> {
  const { verifyAuditLines } = await import("@oaas/contracts/rest");
  const places: string[] = [];
  const lines: string[] = [];
  for (const file of files) {
    const text =
      file === "-" ? await session.environment.terminal.readStdin() : await session.environment.files.read(file);
    if (text === undefined) throw new UsageError(`${file} does not exist`, "name the file of AUDIT_FILE, oldest first");
    for (const [index, line] of text.split("\n").entries()) {
      lines.push(line);
      places.push(`${file}:${index + 1}`);
    }
  }
  const verification = verifyAuditLines(lines, sha256Hex);
  if (verification.ok) {
    const { lines: count, chains } = verification;
    const parts = chains.map(({ instance, firstSeq, lastSeq }) => `${instance} ${firstSeq}-${lastSeq}`);
    const result = { kind: "audit", name: files.join(" "), result: "verified", lines: count, chains };
    session.printOutcome(result, `${count} lines verified${parts.length === 0 ? "" : `: ${parts.join(", ")}`}\n`);
    return EXIT.done;
  }
  const { line, message } = verification.broken;
  const place = places[line - 1] ?? String(line);
  session.printOutcome({ kind: "audit", name: place, result: "broken", message }, `${place} ${message}\n`);
  return EXIT.failed;
}
