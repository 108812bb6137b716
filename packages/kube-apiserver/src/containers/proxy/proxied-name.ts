/** `web`, `web:http`, `pod:8080`, or with a scheme `https:web:http`, as the proxy subresources name their target. */
export interface ProxiedName {
  readonly scheme: string;
  readonly name: string;
  /** A name or a number; empty when absent. */
  readonly port: string;
}

const SCHEMES: ReadonlySet<string> = new Set(["", "http", "https"]);

/** Undefined for an invalid name. */
export function parseProxiedName(text: string): ProxiedName | undefined {
  const parts = text.split(":");
  if (parts.length > 3) return undefined;
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  return name === "" || !SCHEMES.has(scheme) ? undefined : { scheme, name, port };
}

/**
 * The path that the target receives: the rest of the request path, decoded, without `.` and `..` segments, and encoded
 * again. Nothing above the root of the target can be addressed. Undefined for an invalid encoding.
 */
export function cleanProxiedPath(rest: string): string | undefined {
  const kept: string[] = [];
  let segments: readonly string[];
  try {
    segments = rest.split("/").flatMap((segment) => decodeURIComponent(segment).split("/"));
  } catch {
    return undefined;
  }
  for (const segment of segments) {
    if (segment === "..") kept.pop();
    else if (segment !== "" && segment !== ".") kept.push(segment);
  }
  const end = kept.length > 0 && rest.endsWith("/") ? "/" : "";
  return `/${kept.map(encodeSegment).join("/")}${end}`;
}

/** Keeps what a path segment may contain unencoded. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed()).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
}
