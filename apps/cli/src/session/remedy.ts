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
    return `nobody answers at ${pmUrl} (${isVariable ? name : `context ${name}`}); start it (npm start), or look with: oaas doctor`;
  return undefined;
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
