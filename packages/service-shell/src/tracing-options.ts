import type { TracingOptions } from "@oaas/observability/node";
import type { TracingConfig } from "./program.ts";

const TRACES_PATH = "/v1/traces";

/** Converts the settings; undefined without a receiver. */
export function tracingOptions(config: TracingConfig | undefined, instanceId: string): TracingOptions | undefined {
  if (config?.endpoint === undefined) return undefined;
  const { endpoint, headers = "", timeoutMs, sampler, ratio, serviceName } = config;
  const base = endpoint.endsWith("/") ? endpoint.slice(0, -1) : endpoint;
  const url = base.endsWith(TRACES_PATH) ? base : base + TRACES_PATH;
  return { url, headers: parseHeaders(headers), timeoutMs, sampler, ratio, serviceName, instanceId };
}

/** Parses `name=value,name=value` with percent-encoded values; ignores pairs that are not valid headers. */
function parseHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",")) {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (!/^[\w-]+$/.test(name)) continue;
    headers[name.toLowerCase()] = decoded(pair.slice(at + 1).trim());
  }
  return headers;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
