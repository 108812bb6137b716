type Headers = Readonly<Record<string, string>>;

/** Headers of one connection (RFC 9110, section 7.6.1), and the old ones of proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Credentials for the API server, and headers that it sets itself. */
const OWN = /^(?:authorization|impersonate-.*|x-remote-.*|x-forwarded-(?:uri|host|proto)|content-length|host|expect)$/;

/** The headers that a target receives, with the original address. */
export function forwardedHeaders(headers: Headers, from: { readonly uri: string; readonly host: string }): Headers {
  return {
    ...Object.fromEntries(withoutHopByHop(headers).filter(([name]) => !OWN.test(name))),
    "x-forwarded-uri": from.uri,
    ...("host" in headers ? { "x-forwarded-host": headers["host"] ?? "" } : {}),
    host: from.host,
  };
}

/** The headers of a target's response. */
export function returnedHeaders(headers: Headers): Headers {
  return Object.fromEntries(withoutHopByHop(headers));
}

/** Without the headers of the connection, including those that its Connection header names. */
function withoutHopByHop(headers: Headers): readonly (readonly [string, string])[] {
  const named = new Set((headers["connection"] ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name));
}
