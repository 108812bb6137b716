import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Where the API server is told what to write down, and where it writes. */
export interface AuditFiles {
  readonly policy: string;
  readonly log: string;
}

/** One request as the API server answered it. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  /** Empty for paths that are no resource, such as /version. */
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly status: number;
}

/** Writes the policy: every request once, when it is answered or, for a watch, when it begins. */
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

/** Everything that is written so far; a line that is still being written is left out. */
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
