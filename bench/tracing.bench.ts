import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { percentile } from "./crm/lab.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { DEPLOYMENTS, measureAcceptance, type Round } from "./pm/acceptance.ts";

const ROUNDS = Number(process.env["OAAS_BENCH_ROUNDS"] ?? 3);
const SAMPLED = 0.1;

/** The cost of traces: the submission path of `acceptance` without traces and with one in ten exported, in turn. */
export const bench: Bench = {
  name: "tracing",
  async run(log) {
    await using receiver = await startReceiver();
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: String(SAMPLED),
    };
    const [plain, sampled]: [Round[], Round[]] = [[], []];
    for (let count = 1; count <= ROUNDS; count += 1) {
      for (const isTraced of count % 2 === 0 ? [true, false] : [false, true]) {
        const round = await measureAcceptance(isTraced ? { env: traced } : {});
        (isTraced ? sampled : plain).push(round);
        log(`round ${count}, ${isTraced ? "traced" : "plain"}: ${cpuOf(round).toFixed(1)} ms of CPU per class`);
      }
    }
    if (receiver.bodies() === 0) throw new Error("no trace was exported");
    const cpuMs = { plain: median(plain.map(cpuOf)), sampled: median(sampled.map(cpuOf)) };
    return {
      title: `Traces of ${SAMPLED * 100} % of ${DEPLOYMENTS * 2} submissions, exported to a local receiver (medians of ${ROUNDS} rounds)`,
      measurements: [
        { name: "CPU time of both managers per class, without traces", value: cpuMs.plain, unit: "ms" },
        { name: "CPU time of both managers per class, with traces", value: cpuMs.sampled, unit: "ms" },
        { name: "POST /deployments, p50, without traces", value: median(plain.map(latencyOf)), unit: "ms" },
        { name: "POST /deployments, p50, with traces", value: median(sampled.map(latencyOf)), unit: "ms" },
        { name: "export requests", value: receiver.bodies(), unit: "requests", note: `in ${ROUNDS} rounds` },
      ],
      ratios: [
        {
          name: "CPU time, without / with traces",
          value: cpuMs.plain / cpuMs.sampled,
          floor: 0.95,
          explains: "at most 5 % overhead",
        },
      ],
    };
  },
};

function cpuOf({ posts, deploys }: Round): number {
  return (posts.cpuMs.managers + deploys.cpuMs.managers) / DEPLOYMENTS / 2;
}

function latencyOf({ posts }: Round): number {
  return percentile(posts.latencies, 0.5);
}

/** Accepts every export. */
async function startReceiver(): Promise<AsyncDisposable & { readonly url: string; bodies(): number }> {
  let bodies = 0;
  const server = createServer((request, response) => {
    bodies += 1;
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies: () => bodies,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
