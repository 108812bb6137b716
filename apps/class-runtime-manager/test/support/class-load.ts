import type { PrometheusUnderTest } from "@oaas/testkit";

/** Writes samples of a class that serves 40 requests per second in 100 to 500 ms, for the last minutes. */
export async function writeLoad(prometheus: PrometheusUnderTest, fromMs: number, toMs: number): Promise<void> {
  const times = Array.from({ length: Math.floor((toMs - fromMs) / 1_000) }, (_, index) => fromMs + index * 1_000);
  const counter = (name: string, labels: Record<string, string>, perSecond: number) => ({
    labels: { __name__: name, namespace: "default", ...labels },
    // By the time alone, so that a late write is not a counter reset.
    samples: times.map((atMs) => ({ atMs, value: (atMs / 1_000 - 1.7e9) * perSecond })),
  });
  const gauge = (name: string, labels: Record<string, string>, value: number) => ({
    labels: { __name__: name, namespace: "default", ...labels },
    samples: times.map((atMs) => ({ atMs, value })),
  });
  const web = { oaas_owner: "web", function: "f" };
  const duration = "http_request_duration_seconds_bucket";
  // Another class whose name begins like ours, and a pod that belongs to neither.
  const pods = { "web-7d4b9c6f5d-x2x4z": 0.2, "web-admin-7d4b9c6f5d-x2x4z": 8 };
  await prometheus.write([
    counter("http_requests_total", { ...web, code: "200" }, 40),
    counter(duration, { ...web, le: "0.1" }, 10),
    counter(duration, { ...web, le: "0.5" }, 40),
    counter(duration, { ...web, le: "+Inf" }, 40),
    ...Object.entries(pods).flatMap(([pod, cores]) => [
      counter("container_cpu_usage_seconds_total", { pod, container: "app" }, cores),
      gauge("container_memory_working_set_bytes", { pod, container: "app" }, 100e6),
    ]),
    gauge("kube_deployment_status_replicas_ready", { deployment: "web" }, 1),
    gauge("kube_deployment_spec_replicas", { deployment: "web" }, 1),
  ]);
}

/** Writes the load of the last three minutes and then up to now, every second until the signal aborts. */
export async function feedLoad(prometheus: PrometheusUnderTest, signal: AbortSignal): Promise<void> {
  let writtenTo = Date.now() - 180_000;
  while (!signal.aborted) {
    const now = Date.now() - 500;
    await writeLoad(prometheus, writtenTo, now);
    writtenTo += Math.floor((now - writtenTo) / 1_000) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
