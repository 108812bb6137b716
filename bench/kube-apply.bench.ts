import { writeFile } from "node:fs/promises";
import path from "node:path";
import { makeRunFolder, startKubernetes, type KubernetesUnderTest } from "@oaas/testkit";
import type { Bench, BenchReport } from "./harness.ts";
import { clientGo, ours, type ClientProgram } from "./kube/client-programs.ts";
import { deployments } from "./kube/objects.ts";
import { inTurn, median, runClientProgram } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const OBJECTS = scaled(2_000);
const WARM_UP = scaled(100);
const CONCURRENCY = 16;
const ROUNDS = 7;

interface Applied {
  readonly applied: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakRssBytes: number;
}

/**
 * Server-side apply on a real API server: our client and client-go in turn with the same objects, each in its own
 * process.
 */
export const bench: Bench = {
  name: "kube-apply",
  async run(log) {
    const programs = [ours(), await clientGo(log)] as const;
    await using cluster = await startKubernetes();
    const results = new Map<ClientProgram, Applied[]>(programs.map((program) => [program, []]));
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const program of inTurn(programs, round)) {
        const result = await applyRound(cluster, program, `${program.name}-${round}`);
        log(`round ${round}, ${program.name}: ${perSecond(result).toFixed(0)} per second`);
        results.get(program)?.push(result);
      }
    }
    return reportOf(results.get(programs[0]) ?? [], results.get(programs[1]) ?? []);
  },
};

/** Every round uses a new namespace, so that every apply creates an object. */
async function applyRound(cluster: KubernetesUnderTest, program: ClientProgram, namespace: string): Promise<Applied> {
  const folder = await makeRunFolder("kube-apply");
  try {
    const created = await cluster.kubectl(["create", "namespace", namespace]);
    if (created.exitCode !== 0) throw new Error(created.stderr);
    const file = path.join(folder.path, "objects.json");
    await writeFile(file, JSON.stringify(deployments(namespace, "app", WARM_UP + OBJECTS)));
    return await runClientProgram<Applied>(program, [
      "apply",
      cluster.kubeconfig,
      file,
      String(CONCURRENCY),
      String(WARM_UP),
    ]);
  } finally {
    await folder.remove();
  }
}

function perSecond({ applied, ms }: Applied): number {
  return (applied / ms) * 1000;
}

function reportOf(mine: readonly Applied[], theirs: readonly Applied[]): BenchReport {
  const rows = [
    { name: "kube-runtime", results: mine },
    { name: "client-go", results: theirs },
  ];
  const over = (results: readonly Applied[], value: (result: Applied) => number): number => median(results.map(value));
  const cpuSeconds = ({ cpuMs }: Applied): number => cpuMs / 1000;
  const peakMiB = ({ peakRssBytes }: Applied): number => peakRssBytes / 2 ** 20;
  return {
    title: `Server-side apply of ${OBJECTS} Deployments, ${CONCURRENCY} at once, on a real API server (medians of ${ROUNDS} rounds)`,
    measurements: rows.flatMap(({ name, results }) => [
      { name: `${name}: applies`, value: over(results, perSecond), unit: "per second" },
      { name: `${name}: CPU time`, value: over(results, cpuSeconds), unit: "s", note: `of ${OBJECTS} applies` },
      { name: `${name}: peak memory`, value: over(results, peakMiB), unit: "MiB", note: "resident, whole process" },
    ]),
    ratios: [
      {
        name: "throughput, kube-runtime / client-go",
        value: over(mine, perSecond) / over(theirs, perSecond),
        floor: 0.9,
        explains: "client and server share the machine, so a client that computes less leaves more to the server",
      },
      {
        name: "CPU time, client-go / kube-runtime",
        value: over(theirs, cpuSeconds) / over(mine, cpuSeconds),
        explains: "above 1 means that ours needs less",
      },
      {
        name: "peak memory, client-go / kube-runtime",
        value: over(theirs, peakMiB) / over(mine, peakMiB),
        explains: "most of ours is Node itself",
      },
    ],
  };
}
