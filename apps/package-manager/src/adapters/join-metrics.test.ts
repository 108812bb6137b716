import { createPrometheusMeter } from "@oaas/observability/node";
import { expect, test } from "vitest";
import { joinMetrics } from "./join-metrics.ts";

async function textOf(count: number): Promise<string> {
  const meter = createPrometheusMeter({ strict: true });
  meter.counter({ name: "requests_total", help: "Requests.", labels: ["by"] }).add(count, { by: 'a "quoted"\n{name}' });
  meter.gauge({ name: "depth", help: "Depth." }).set(count);
  meter.histogram({ name: "wait_seconds", help: "Waiting time.", buckets: [1] }).observe(count);
  return meter.text();
}

test("labels the series of each worker and keeps each metric together", async () => {
  const joined = joinMetrics([
    { worker: 1, text: await textOf(5) },
    { worker: 3, text: await textOf(7) },
  ]);
  const label = String.raw`by="a \"quoted\"\n{name}"`;
  expect(joined).toBe(`# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{${label},worker="1"} 5
requests_total{${label},worker="3"} 7

# HELP depth Depth.
# TYPE depth gauge
depth{worker="1"} 5
depth{worker="3"} 7

# HELP wait_seconds Waiting time.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1",worker="1"} 0
wait_seconds_bucket{le="+Inf",worker="1"} 1
wait_seconds_sum{worker="1"} 5
wait_seconds_count{worker="1"} 1
wait_seconds_bucket{le="1",worker="3"} 0
wait_seconds_bucket{le="+Inf",worker="3"} 1
wait_seconds_sum{worker="3"} 7
wait_seconds_count{worker="3"} 1
`);
});

test("includes a metric that only one worker has", () => {
  const joined = joinMetrics([
    { worker: 1, text: "# HELP a A.\n# TYPE a gauge\na 1\n" },
    { worker: 2, text: "# HELP b B.\n# TYPE b gauge\nb 2\n" },
  ]);
  expect(joined).toBe('# HELP a A.\n# TYPE a gauge\na{worker="1"} 1\n\n# HELP b B.\n# TYPE b gauge\nb{worker="2"} 2\n');
});
