import type { DashboardRow } from "../model.ts";

/** CPU, memory, event loop and certificates of each process; `matchers` select its targets. */
export function processRow(matchers: string): DashboardRow {
  return {
    title: "Processes",
    panels: [
      {
        title: "CPU",
        unit: "percentunit",
        description: "CPU time per second, in cores. A process uses little more than one.",
        queries: [
          {
            expr: `sum by (instance, worker) (rate(process_cpu_seconds_total{${matchers}}[$__rate_interval]))`,
            legend: "{{instance}} {{worker}}",
          },
        ],
      },
      {
        title: "Memory",
        unit: "bytes",
        description: "Resident memory. Steady growth over days is a leak.",
        queries: [
          {
            expr: `sum by (instance, worker) (process_resident_memory_bytes{${matchers}})`,
            legend: "{{instance}} {{worker}}",
          },
        ],
      },
      {
        title: "Event loop delay, 99th percentile",
        unit: "s",
        description: "How long callbacks wait. Above 0.1 s all requests are slow.",
        queries: [
          {
            expr: `max by (instance, worker) (nodejs_eventloop_lag_p99_seconds{${matchers}})`,
            legend: "{{instance}} {{worker}}",
          },
        ],
      },
      {
        title: "Time until certificates expire",
        unit: "s",
        description:
          "By use, and by the other side of client certificates. Renewal makes it jump up. Runbook: CertificateExpires.",
        queries: [
          {
            expr: `min by (use, peer) (oaas_certificate_expiry_timestamp_seconds{${matchers}}) - time()`,
            legend: "{{use}} {{peer}}",
          },
        ],
      },
    ],
  };
}
