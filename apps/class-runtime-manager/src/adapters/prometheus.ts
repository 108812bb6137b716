import type { Ambient } from "@oaas/foundation";
import {
  createPrometheusClient,
  identityHeaders,
  type PrometheusClient,
  type PrometheusTransport,
} from "@oaas/prometheus-client";
import { createUndiciTransport } from "@oaas/prometheus-client/node";
import type { CrmConfig } from "../config.ts";
import type { Secrets } from "./secret-files.ts";

/** Connects to the configured Prometheus API; undefined without a URL. Default transport: sockets. */
export function connectPrometheus(
  { url, queryTimeoutMs, username, tenant, caFile, certFile, keyFile }: CrmConfig["prometheus"],
  ambient: Ambient,
  secrets: () => Secrets,
  transport?: PrometheusTransport,
): PrometheusClient | undefined {
  if (url === undefined) return undefined;
  return createPrometheusClient({
    transport: transport ?? createUndiciTransport({ clock: ambient.clock, caFile, certFile, keyFile }),
    ambient,
    url,
    urlSetting: "OPRC_CRM_PROM_URL",
    headers: () => {
      const { promToken: token, promPassword: password } = secrets();
      return identityHeaders({ token, username, password, tenant });
    },
    timeoutMs: queryTimeoutMs,
  });
}
