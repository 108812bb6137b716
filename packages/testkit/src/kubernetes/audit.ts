import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The audit policy and log files of the API server. */
export interface AuditFiles {
  readonly policy: string;
  readonly log: string;
}

/** One audited request. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  /** Empty for non-resource paths such as /version. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly status: number;
}

/** Writes the policy: log every request once, on completion or, for a watch, on start. */
export async function prepareAudit(folder: string): Promise<AuditFiles> {
  const files = { policy: join(folder, "audit-policy.json"), log: join(folder, "audit.log") };
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  };
  await writeFile(files.policy, JSON.stringify(policy));
  return files;
}

export function auditArgs(files: AuditFiles | undefined): string[] {
  return files ? [`--audit-policy-file=${files.policy}`, `--audit-log-path=${files.log}`] : [];
}

interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** Reads all complete lines. */
export async function readAudit({ log }: AuditFiles): Promise<readonly AuditedRequest[]> {
  const text = await readFile(log, "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => requestOf(JSON.parse(line) as AuditEvent));
}

function requestOf({ verb, requestURI, user, objectRef = {}, responseStatus }: AuditEvent): AuditedRequest {
  return {
    user: user.username,
    verb,
    group: objectRef.apiGroup ?? "",
    resource: objectRef.resource ?? "",
    subresource: objectRef.subresource ?? "",
    namespace: objectRef.namespace ?? "",
    name: objectRef.name ?? "",
    path: requestURI,
    status: responseStatus?.code ?? 0,
  };
}
