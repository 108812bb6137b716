import { realAmbient } from "@oaas/foundation/real";
import { startGrpcServices } from "../apps/class-runtime-manager/test/support/grpc-fixture.ts";
import { echoPackage, startPm, type PmUnderTest } from "../apps/package-manager/test/running-pm.ts";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const PODS = 100;
const LINES_PER_POD = scaled(2_000);
const LINES_PER_CHUNK = 50;
const ROUNDS = 5;
const LINES_PER_SECOND = 20_000;
const MIB = 1024 * 1024;

const LINE = `2026-01-01T00:00:00.123456789Z ${"POST /orders 200 in 12 ms, customer 4711 ".repeat(2)}\n`;
const CHUNK = new TextEncoder().encode(LINE.repeat(LINES_PER_CHUNK));

/** The output of 100 pods, through both managers in one process: gRPC, merge, server-sent events, HTTP. */
export const bench: Bench = {
  name: "function-logs",
  async run(log) {
    const source = { chunksPerPod: Math.ceil(LINES_PER_POD / LINES_PER_CHUNK), chunks: 0 };
    const crm = await startGrpcServices({ logs: scriptedPods(source) });
    const pm = await startPm({ clusters: { east: `http://127.0.0.1:${crm.port}` } });
    try {
      await deploy(pm);
      const rates: number[] = [];
      let peakHeap = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const read = await readAll(pm, PODS * source.chunksPerPod * LINES_PER_CHUNK);
        log(`round ${round + 1}: ${Math.round(read.linesPerSecond)} lines/s`);
        rates.push(read.linesPerSecond);
        peakHeap = Math.max(peakHeap, read.peakHeapBytes);
      }
      const rate = median(rates);
      const stalled = await produceWithoutReader(pm, source);
      return {
        title: `Output of ${PODS} pods through both managers in one process`,
        measurements: [
          { name: "lines", value: rate, unit: "lines/s", note: `${CHUNK.length / LINES_PER_CHUNK} bytes each` },
          {
            name: "heap while streaming, peak",
            value: peakHeap / MIB,
            unit: "MiB",
            note: "both managers and the reader",
          },
          { name: "taken from pods while no one reads", value: stalled / MIB, unit: "MiB", note: "endless output" },
        ],
        ratios: [
          {
            name: "lines per second / 20,000",
            value: rate / LINES_PER_SECOND,
            floor: 1,
            explains: "The stream of 100 pods keeps up with 20,000 lines per second.",
          },
          {
            name: "64 MiB / taken while no one reads",
            value: (64 * MIB) / stalled,
            floor: 1,
            explains: "A reader that stops also stops the pods: nothing piles up in the managers.",
          },
        ],
      };
    } finally {
      await pm.close();
      await crm.close();
    }
  },
};

interface Source {
  chunksPerPod: number;
  /** Chunks taken from all pods. */
  chunks: number;
}

function scriptedPods(source: Source): NonNullable<Parameters<typeof startGrpcServices>[0]>["logs"] & object {
  const pods = Array.from({ length: PODS }, (_, index) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: `pod-${index}`, namespace: "shop", uid: `u${index}`, labels: { "oaas.io/function": "echo" } },
    status: { phase: "Running" },
  }));
  return {
    ambient: realAmbient,
    podsOf: () => pods,
    client: {
      podLog: async () =>
        (async function* () {
          for (let chunk = 0; chunk < source.chunksPerPod; chunk += 1) {
            source.chunks += 1;
            yield CHUNK;
            // Output arrives over a socket, never twice in one turn.
            if (chunk % 16 === 15) await new Promise((resolve) => setImmediate(resolve));
          }
        })(),
    },
  };
}

async function deploy(pm: PmUnderTest): Promise<void> {
  await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
  const body = { key: "shop-echo", package_name: "shop", class_key: "Echo", target_clusters: ["east"] };
  const { status, text } = await pm.call("POST", "/api/v1/deployments", { body });
  if (status >= 300) throw new Error(text);
}

const LOGS = "/api/v1/deployments/shop-echo/logs";

async function readAll(
  { url }: PmUnderTest,
  expected: number,
): Promise<{ readonly linesPerSecond: number; readonly peakHeapBytes: number }> {
  const startedAt = performance.now();
  const response = await fetch(url + LOGS);
  let lines = 0;
  let peakHeapBytes = 0;
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const parts = (rest + Buffer.from(bytes as Uint8Array).toString()).split("event: line\n");
    rest = (parts.at(-1) ?? "").slice(-16);
    lines += parts.length - 1;
    peakHeapBytes = Math.max(peakHeapBytes, process.memoryUsage().heapUsed);
  }
  if (lines !== expected) throw new Error(`${lines} of ${expected} lines arrived`);
  return { linesPerSecond: (lines / (performance.now() - startedAt)) * 1000, peakHeapBytes };
}

/** Bytes that the managers take from endless pods for a client that reads nothing, until they take no more. */
async function produceWithoutReader({ url }: PmUnderTest, source: Source): Promise<number> {
  const leaving = new AbortController();
  const before = source.chunks;
  const { chunksPerPod } = source;
  source.chunksPerPod = Number.POSITIVE_INFINITY;
  try {
    await fetch(url + LOGS, { signal: leaving.signal });
    for (let taken = -1; taken !== source.chunks;) {
      taken = source.chunks;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    return (source.chunks - before) * CHUNK.length;
  } finally {
    source.chunksPerPod = chunksPerPod;
    leaving.abort();
  }
}
