import { createHash } from "node:crypto";
import type { Lockfile } from "./lockfile.ts";
import { isInRange } from "./version-range.ts";

/** A known vulnerability of a package. */
export interface Advisory {
  readonly id: string;
  readonly package: string;
  /** Vulnerable versions. */
  readonly range: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
}

/** The committed advisories, written by `npm run advisories` from `npm audit`. */
export interface AdvisoryFile {
  /** When they were fetched, as a date; absent if never. */
  readonly fetched?: string;
  /** Digest of the packages they were fetched for. */
  readonly packages?: string;
  readonly advisories: readonly Advisory[];
  /** Advisories that do not affect us, with the reason and the last day of the exception. */
  readonly accepted: readonly { readonly id: string; readonly until: string; readonly reason: string }[];
}

/** Findings, one per line, and what the advisories do not cover. */
export interface AdvisoryResult {
  readonly problems: readonly string[];
  readonly notice: string | undefined;
}

/** Compares all packages of the lockfile with the advisories. `today` is a date such as 2026-01-31. */
export function checkAdvisories(lockfile: Lockfile, file: AdvisoryFile, today: string): AdvisoryResult {
  const accepted = new Set(file.accepted.filter(({ until }) => until >= today).map(({ id }) => id));
  const problems = lockfile
    .registryPackages()
    .flatMap(({ name, version }) =>
      file.advisories
        .filter((one) => one.package === name && !accepted.has(one.id) && isInRange(version, one.range))
        .map(({ title, severity, url }) => `${name}@${version}: ${title} (${severity}, ${url}): update it`),
    );
  return { problems: [...new Set(problems)].toSorted(), notice: coverageNotice(lockfile, file) };
}

function coverageNotice(lockfile: Lockfile, { fetched, packages }: AdvisoryFile): string | undefined {
  const refresh = "npm run advisories refreshes them where the audit endpoint of a registry is reachable";
  if (fetched === undefined) return `advisories were never fetched; ${refresh}`;
  if (packages !== packagesDigest(lockfile)) return `packages changed since the advisories of ${fetched}; ${refresh}`;
  return undefined;
}

/** A digest of the names and versions of all packages. */
export function packagesDigest(lockfile: Lockfile): string {
  const names = lockfile.registryPackages().map(({ name, version }) => `${name}@${version}`);
  return createHash("sha256")
    .update([...new Set(names)].toSorted().join("\n"))
    .digest("hex");
}

/** Reads the output of `npm audit --json`; throws its error. */
export function advisoriesFromAudit(text: string): readonly Advisory[] {
  const report = JSON.parse(text) as AuditReport;
  if (report.auditReportVersion !== 2 || report.vulnerabilities === undefined) {
    throw new Error(report.message ?? report.error?.summary ?? "npm audit returned no report");
  }
  const found = Object.values(report.vulnerabilities)
    .flatMap(({ via }) => via)
    .filter((cause) => typeof cause === "object")
    .map((cause): Advisory => {
      const { source, name, range, severity, title, url } = cause;
      return { id: String(source), package: name, range, severity, title, url };
    });
  return [...new Map(found.map((one) => [one.id, one])).values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

interface AuditReport {
  readonly auditReportVersion?: number;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<Record<string, { readonly via: readonly (string | AuditCause)[] }>>;
}

interface AuditCause {
  readonly source: number | string;
  readonly name: string;
  readonly range: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
}
