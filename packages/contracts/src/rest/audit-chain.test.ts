import { sha256Hex } from "@oaas/foundation/hash";
import { describe, expect, test } from "vitest";
import { CHAIN_START, sealAuditEntry, verifyAuditLines } from "./audit-chain.ts";
import type { AuditEntry } from "./resources/service/audit-entry.ts";

function chainOf(instance: string, count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let seq = 1; seq <= count; seq += 1)
    entries.push(
      sealAuditEntry(
        {
          v: 1,
          time: "2026-01-01T00:00:00.000Z",
          instance,
          seq,
          id: `${instance}-${seq}`,
          actor: { subject: "ann", name: "ann", issuer: null, role: "deployer", address: "127.0.0.1" },
          action: "createPackage",
          target: "/api/v1/packages",
          outcome: "succeeded",
          status: 201,
          reason: null,
          correlation_id: "c",
          omitted: 0,
          prev: entries.at(-1)?.hash ?? CHAIN_START,
        },
        sha256Hex,
      ),
    );
  return entries;
}

const verify = (entries: readonly object[]) =>
  verifyAuditLines(
    entries.map((entry) => JSON.stringify(entry)),
    sha256Hex,
  );

describe("audit lines", () => {
  test("of several processes are verified, also from the middle of a chain", () => {
    const [a, b] = [chainOf("a", 4), chainOf("b", 3)];
    const mixed = [...a.slice(1, 3), ...b.slice(0, 2), ...a.slice(3), ...b.slice(2)];
    expect(verify(mixed)).toEqual({
      ok: true,
      lines: 6,
      chains: [
        { instance: "a", firstSeq: 2, lastSeq: 4 },
        { instance: "b", firstSeq: 1, lastSeq: 3 },
      ],
    });
  });

  test("are verified between the lines of a log", () => {
    const [first, second] = chainOf("a", 2);
    expect(verify([{ level: "info" }, first!, { level: "info" }, second!])).toMatchObject({ ok: true, lines: 2 });
  });

  const chain = chainOf("a", 4);
  const sealAgain = (sealed: AuditEntry, changed: Partial<AuditEntry>): AuditEntry => {
    const { hash: _, ...entry } = sealed;
    return sealAuditEntry({ ...entry, ...changed }, sha256Hex);
  };
  test.each([
    { why: "a changed line", lines: chain.map((each, at) => (at === 1 ? { ...each, status: 204 } : each)), line: 2 },
    { why: "a removed line", lines: chain.filter((_, at) => at !== 2), line: 3 },
    { why: "two swapped lines", lines: [chain[0]!, chain[2]!, chain[1]!, chain[3]!], line: 2 },
    { why: "a repeated line", lines: [chain[0]!, chain[0]!], line: 2 },
    {
      why: "a line that was changed and sealed again",
      lines: [chain[0]!, sealAgain(chain[1]!, { target: "/b" }), chain[2]!],
      line: 3,
    },
    { why: "a line with another field", lines: [{ ...chain[0]!, note: "x" }], line: 1 },
    { why: "another first line", lines: [sealAgain(chain[0]!, { prev: "1".repeat(64) })], line: 1 },
    { why: "a line that is not of the trail", lines: [chain[0]!, { hash: "x" }], line: 2 },
    { why: "a line without its hash", lines: [chain[0]!, { ...chain[1]!, hash: undefined }, chain[2]!], line: 3 },
  ])("report $why", ({ lines, line }) => {
    expect(verify(lines)).toMatchObject({ ok: false, broken: { line } });
  });
});
