import { CSRF_HEADER } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { csrfTokenOf, equalTexts } from "./sessions.ts";

/** The parts of a request that tell a page of this origin from one of another. */
export interface SentByPage {
  readonly method: string;
  readonly header: (name: string) => string | undefined;
}

/**
 * Throws permission-denied unless a request that a cookie authenticates comes from a page of this origin.
 *
 * Browsers send the cookie with requests of any page of this site, also of another port. They set `Sec-Fetch-Site` and `Origin`
 * themselves. A write also needs the CSRF token, which only pages of this origin can read.
 */
export function assertOwnPage(request: SentByPage, secret: string): void {
  assertSameOrigin(request);
  if (isRead(request)) return;
  const sent = request.header(CSRF_HEADER);
  if (sent !== undefined && equalTexts(sent, csrfTokenOf(secret))) return;
  const problem = sent === undefined ? "is missing" : "is not that of the session";
  throw foreign(`the header ${CSRF_HEADER} ${problem}; send the csrf_token of GET /api/v1/session`);
}

/** Throws permission-denied when a page of another origin sent the request. Programs send neither header. */
export function assertSameOrigin(request: SentByPage): void {
  const site = request.header("sec-fetch-site");
  // Browsers send "none" when a user enters the address.
  if (site === "same-origin" || (site === "none" && isRead(request))) return;
  if (site !== undefined)
    throw foreign(`the sec-fetch-site header is "${site.slice(0, 100)}"; use a page of this server`);
  const origin = request.header("origin");
  if (origin === undefined || hostOf(origin) === request.header("host")?.toLowerCase()) return;
  throw foreign(`the origin header is "${origin.slice(0, 100)}"; use a page of this server`);
}

function isRead({ method }: SentByPage): boolean {
  return method === "GET" || method === "HEAD";
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

function foreign(why: string): Fault {
  return new Fault({ kind: "permission-denied", action: "use the session" }, `The cookie does not count: ${why}.`);
}
