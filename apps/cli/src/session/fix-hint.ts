import type { Fault } from "@oaas/foundation";
import type { SelectedContext } from "../contexts/contexts-store.ts";
import { ageText } from "../output/table.ts";

/** A hint, with a command to copy, for faults that depend on the context in use; undefined for all others. */
export function fixHint(fault: Fault, { name, pmUrl, token }: SelectedContext, now: number): string | undefined {
  const { detail } = fault;
  // The context came from an environment variable instead of the contexts file.
  const isVariable = name === "OAAS_PM_URL";
  const login = isVariable ? "set OAAS_TOKEN" : `oaas login --name ${name} ${pmUrl}`;
  if (detail.kind === "unauthenticated") {
    if (token === undefined) return `no token is saved for ${pmUrl}; log in: ${login}`;
    const end = tokenExpiry(token);
    return end !== undefined && end <= now
      ? `the token expired ${ageText(new Date(end).toISOString(), now)} ago; log in again: ${login}`
      : `${pmUrl} rejected the saved token; log in again: ${login}`;
  }
  if (detail.kind === "permission-denied") return `get a token with a higher role, then: ${login}`;
  if (detail.kind === "unavailable" && detail.dependency === "package-manager")
    return connectionHint(fault, `${pmUrl} (${isVariable ? name : `context ${name}`})`);
  if (detail.kind === "failed-precondition" && fault.message.includes("cascade=true"))
    return "repeat the command with --cascade to delete its deployments too";
  if (detail.kind === "failed-precondition" && detail.subject === pmUrl)
    return `check the address: ${isVariable ? `it is in ${name}` : "oaas context list"}; the local stack shows its own: oaas status`;
  return detail.kind === "not-found" ? LIST_COMMANDS[detail.resource] : undefined;
}

/** The command that lists the valid names of each resource. */
const LIST_COMMANDS: Readonly<Record<string, string>> = {
  package: "see oaas package list",
  "package revision": "see oaas package history NAME",
  deployment: "see oaas deployment list (a field path starts with package, class, function or deployment)",
  "deployment revision": "see oaas deployment history KEY",
  cluster: "see oaas cluster list",
  "class runtime": "see oaas runtime list",
  // The only server with this resource.
  path: "this is the status page of a local stack; the address of its package manager is in oaas status",
};

const UNKNOWN_HOST = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/** Explains a failed connection from its cause. */
function connectionHint({ cause }: Fault, where: string): string {
  const { code = "", message = "" } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  if (UNKNOWN_HOST.has(code)) return `cannot resolve the host of ${where} (${code}); check the address`;
  if (/CERT|ISSUER|SIGNATURE|ALTNAME/.test(code))
    return `the certificate of ${where} is not trusted (${code}); set NODE_EXTRA_CA_CERTS to its CA certificate file`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return `${where} does not speak TLS; is its address http://?`;
  if (code.startsWith("HPE_")) return `${where} does not speak HTTP; is its address https://?`;
  if (code === "ECONNRESET") return `${where} closed the connection; is its address https://?`;
  const reason = code === "ECONNREFUSED" || message === "" ? "" : `: ${message}`;
  return `cannot connect to ${where}${reason}; start the local stack (npm start), or check with: oaas doctor`;
}

/** The expiry of a JWT in milliseconds; undefined for other tokens. */
export function tokenExpiry(token: string): number | undefined {
  const [, claims] = token.split(".");
  if (claims === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) as { readonly exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    // Not a JWT.
    return undefined;
  }
}
