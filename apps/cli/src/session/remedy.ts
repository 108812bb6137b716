import type { Fault } from "@oaas/foundation";
import type { ChosenContext } from "../contexts/contexts-store.ts";
import { ageText } from "../output/table.ts";

/** What to do about a fault that has to do with the platform in use, in words that can be copied; undefined when it has not. */
export function remedyOf(fault: Fault, { name, pmUrl, token }: ChosenContext, now: number): string | undefined {
  const { detail } = fault;
  // A name that is no context of the file is a variable of the environment.
  const isVariable = name === "OAAS_PM_URL";
  const login = isVariable ? "set OAAS_TOKEN" : `oaas login --name ${name} ${pmUrl}`;
  if (detail.kind === "unauthenticated") {
    if (token === undefined) return `no token is kept for ${pmUrl}; log in: ${login}`;
    const end = tokenEnd(token);
    return end !== undefined && end <= now
      ? `the token expired ${ageText(new Date(end).toISOString(), now)} ago; log in again: ${login}`
      : `the token kept for ${pmUrl} is not accepted; log in again: ${login}`;
  }
  if (detail.kind === "permission-denied") return `ask for a token with a higher role, then: ${login}`;
  if (detail.kind === "unavailable" && detail.dependency === "package-manager")
    return unreached(fault, `${pmUrl} (${isVariable ? name : `context ${name}`})`);
  return detail.kind === "not-found" ? LISTS[detail.resource] : undefined;
}

/** Where the names are that could have been meant. */
const LISTS: Readonly<Record<string, string>> = {
  package: "see which there are: oaas package list",
  "package revision": "see which there are: oaas package history NAME",
  deployment:
    "see which there are: oaas deployment list (fields of files are explained as package, class, function or deployment)",
  "deployment revision": "see which there are: oaas deployment history KEY",
  cluster: "see which there are: oaas cluster list",
  "class runtime": "see which there are: oaas runtime list",
};

const UNKNOWN_HOST = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/** Why there was no answer, as far as the cause tells. */
function unreached({ cause }: Fault, where: string): string {
  const { code = "", message = "" } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  if (UNKNOWN_HOST.has(code)) return `nobody knows the host of ${where} (${code}); check the address`;
  if (/CERT|ISSUER|SIGNATURE|ALTNAME/.test(code))
    return `the certificate of ${where} is not trusted (${code}); name the file of its authority: NODE_EXTRA_CA_CERTS=FILE`;
  if (code === "EPROTO" || code.startsWith("ERR_SSL")) return `${where} does not speak TLS; is its address http://?`;
  if (code.startsWith("HPE_")) return `${where} does not speak HTTP; is its address https://?`;
  const why = code === "ECONNREFUSED" || message === "" ? "" : `: ${message}`;
  return `nobody answers at ${where}${why}; start it (npm start), or look with: oaas doctor`;
}

/** When a token ends, in milliseconds, as far as it says so itself (a JWT does). */
export function tokenEnd(token: string): number | undefined {
  const [, claims] = token.split(".");
  if (claims === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8")) as { readonly exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    // No JWT: a token of another kind does not tell.
    return undefined;
  }
}
