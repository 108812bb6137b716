import { invalidArgument, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";

/** Addresses of etcd, and whether they use TLS. */
export interface Endpoints {
  readonly addresses: readonly string[];
  readonly tls: boolean;
}

/** Parses `http://host:port`, `https://host:port` and `host:port`; all must use the same scheme. */
export function parseEndpoints(endpoints: readonly string[], tlsConfigured: boolean): Endpoints {
  const violations: Violation[] = [];
  if (endpoints.length === 0) violations.push({ path: ROOT_PATH, message: "is empty" });
  const schemes = new Set<string>();
  const addresses = endpoints.map((endpoint, index) => {
    const [, scheme, address] = /^(?:(https?):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(endpoint) ?? [];
    if (address === undefined) {
      const message = `"${endpoint}" is not http://host:port, https://host:port or host:port`;
      violations.push({ path: pathOf(ROOT_PATH, index), message });
    }
    schemes.add(scheme ?? (tlsConfigured ? "https" : "http"));
    return address ?? "";
  });
  if (schemes.size > 1) violations.push({ path: ROOT_PATH, message: "mixes http and https" });
  if (tlsConfigured && schemes.has("http")) {
    violations.push({ path: ROOT_PATH, message: "uses http although TLS files are configured" });
  }
  if (violations.length > 0) throw invalidArgument("the list of etcd endpoints", violations);
  return { addresses, tls: schemes.has("https") };
}
