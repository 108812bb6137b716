import { BlockList, isIP } from "node:net";
import { invalidArgument } from "@oaas/foundation";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for a server, or undefined: HTTPS_PROXY or HTTP_PROXY by the server's scheme, unless NO_PROXY
 * matches; upper or lower case. Loopback is never proxied. NO_PROXY entries: `*`, a domain (with its subdomains),
 * `.domain` (only subdomains), an address, a CIDR range; each may end in `:port`.
 */
export function proxyFromEnv(server: string, env: Env): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[name] || env[name.toLowerCase()];
  if (!proxy || isLoopback(host)) return undefined;
  const excepted = (env["NO_PROXY"] || env["no_proxy"] || "").split(",").map((entry) => entry.trim().toLowerCase());
  const onPort = port || (protocol === "https:" ? "443" : "80");
  if (excepted.some((entry) => entry !== "" && matches(entry, host, onPort))) return undefined;
  const url = proxy.includes("://") ? proxy : `http://${proxy}`;
  if (!/^https?:\/\/[^/]+/.test(url)) {
    throw invalidArgument(name, [
      { path: "$", message: "is not an http or https address", fix: "write http://host:port" },
    ]);
  }
  return url;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  const [, name = entry, only] = /^(.*):(\d+)$/.exec(isIP(entry) === 6 ? "" : entry) ?? [];
  if (only !== undefined && only !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return bare === host || inRange(bare, host);
  if (bare.startsWith(".")) return host.endsWith(bare);
  return host === bare || host.endsWith(`.${bare}`);
}

function inRange(range: string, host: string): boolean {
  const [net = "", bits = ""] = range.split("/");
  const family = isIP(net);
  if (family === 0 || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(net, Number(bits), family === 4 ? "ipv4" : "ipv6");
  return list.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
}
