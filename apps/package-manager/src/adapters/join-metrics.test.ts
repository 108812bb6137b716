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

test("keeps exemplars and ends once in the OpenMetrics format", async () => {
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };
  const meter = createPrometheusMeter({ currentSpan: () => span });
  meter.counter({ name: "calls_total", help: "Calls." }).add(2);
  meter.histogram({ name: "wait_seconds", help: "Waiting time.", buckets: [1] }).observe(0.5);
  const text = (await meter.text("openmetrics")).replaceAll(/(0\.5) \d\S+$/gm, "$1 1700000000.5");
  const exemplar = `# {trace_id="${span.traceId}",span_id="${span.spanId}"} 0.5 1700000000.5`;
  const joined = joinMetrics([
    { worker: 1, text },
    { worker: 2, text },
  ]);
  expect(joined).toBe(`# HELP calls Calls.
# TYPE calls counter
calls_total{worker="1"} 2
calls_total{worker="2"} 2
# HELP wait_seconds Waiting time.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1",worker="1"} 1 ${exemplar}
wait_seconds_bucket{le="+Inf",worker="1"} 1
wait_seconds_sum{worker="1"} 0.5
wait_seconds_count{worker="1"} 1
wait_seconds_bucket{le="1",worker="2"} 1 ${exemplar}
wait_seconds_bucket{le="+Inf",worker="2"} 1
wait_seconds_sum{worker="2"} 0.5
wait_seconds_count{worker="2"} 1
# EOF
`);
});
