/**
 * Protects servers without authentication from web pages. A browser on this machine sends the requests of any page it
 * shows, so that listening on loopback is not enough: a page may address the server directly (cross-site request
 * forgery), or by a name of its own that resolves to loopback (DNS rebinding).
 */

/** The parts of a request that browsers set and pages cannot forge. */
export interface SentRequest {
  readonly method: string | undefined;
  /** A header by its lower-case name; `host` is the authority of an HTTP/2 request. */
  readonly header: (name: string) => string | undefined;
}

/** Exceptions that an operator configured. `*` allows everything. */
export interface CrossSiteRules {
  /** Names besides those of loopback that the server is addressed by. */
  readonly hosts?: readonly string[];
  /** Whether any IP address is accepted as a host: for a server beyond loopback. No page can rebind an address. */
  readonly acceptsAddresses?: boolean;
  /** Origins of web pages that may send requests. */
  readonly origins?: readonly string[];
}

export interface CrossSiteProblem {
  readonly header: "host" | "origin" | "sec-fetch-site";
  /** 421 Misdirected Request for a foreign host, 403 for a foreign page. */
  readonly status: 403 | 421;
  readonly message: string;
  readonly fix: string;
}

/** Whether a host name or address, without a port, is loopback: `localhost`, `*.localhost`, `127.0.0.0/8`, `::1`. */
export function isLoopbackHost(name: string): boolean {
  const host = name.toLowerCase();
  return (
    host === "localhost" ||
    host.endsWith(".localhost") ||
    host === "::1" ||
    host === "[::1]" ||
    /^127(\.\d{1,3}){3}$/.test(host)
  );
}

/** Why a server without authentication rejects a request; undefined when a local program or page sent it. */
export function findCrossSiteProblem(
  { method, header }: SentRequest,
  rules: CrossSiteRules = {},
): CrossSiteProblem | undefined {
  const host = header("host")?.toLowerCase();
  // Only clients of HTTP/1.0 send no host, and no browser is one.
  if (host !== undefined && !isAcceptedHost(host, rules)) return foreignHost(host);
  const origin = header("origin");
  if (isListed(origin, rules.origins)) return undefined;
  if (origin !== undefined && originHost(origin) !== host) return foreignOrigin(origin);
  const site = header("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") return undefined;
  return isVisit(method, header) ? undefined : foreignSite(site);
}

/** The same for a request of Node, of HTTP/1.1 or HTTP/2. */
export function sentRequest(request: {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}): SentRequest {
  const { method, headers } = request;
  return {
    method,
    header: (name) => (headers[name] ?? (name === "host" ? headers[":authority"] : undefined))?.toString(),
  };
}

function isAcceptedHost(host: string, { hosts = [], acceptsAddresses = false }: CrossSiteRules): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1] ?? "";
  if (isLoopbackHost(name) || (acceptsAddresses && isAddress(name))) return true;
  return hosts.some((each) => each === "*" || each.toLowerCase() === name);
}

function isAddress(name: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^\[[\da-f:.]+\]$/.test(name);
}

function isListed(origin: string | undefined, origins: readonly string[] = []): boolean {
  return origin !== undefined && (origins.includes("*") || origins.includes(origin));
}

/** Host and port of an origin; undefined for an opaque one (`null`). */
function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1];
}

/** A person follows a link of another page: that page cannot read the response. */
function isVisit(method: string | undefined, header: SentRequest["header"]): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return isRead && header("sec-fetch-mode") === "navigate" && header("sec-fetch-dest") === "document";
}

const MAX_SHOWN = 100;
const PAGE_FIX = "send the request from a program, or from a page of this server";

function foreignHost(host: string): CrossSiteProblem {
  const message = `the host header is "${host.slice(0, MAX_SHOWN)}", but without authentication only loopback names are accepted`;
  return { header: "host", status: 421, message, fix: "address the server as localhost or 127.0.0.1" };
}

function foreignOrigin(origin: string): CrossSiteProblem {
  const message = `the origin header is "${origin.slice(0, MAX_SHOWN)}", a foreign web page`;
  return { header: "origin", status: 403, message, fix: PAGE_FIX };
}

function foreignSite(site: string): CrossSiteProblem {
  const message = `the sec-fetch-site header is "${site.slice(0, MAX_SHOWN)}": a foreign web page sent the request`;
  return { header: "sec-fetch-site", status: 403, message, fix: PAGE_FIX };
}
