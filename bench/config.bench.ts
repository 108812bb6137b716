import { spawnSync } from "node:child_process";
import { defineConfig, env, parseConfig, perName } from "@oaas/config";
import type { Bench } from "./harness.ts";

const PROFILES = ["dev", "edge", "full"] as const;

/** About sixty variables of all types, like a service. */
const schema = defineConfig({
  title: "Bench",
  prefixes: ["OPRC_BENCH_"],
  profile: "profile",
  variables: {
    profile: env("OPRC_BENCH_PROFILE").oneOf(PROFILES).default("dev").doc("d"),
    ...group((index) => ({
      port: env(`OPRC_BENCH_PORT_${index}`).port().default(80).doc("d"),
      flag: env(`OPRC_BENCH_FLAG_${index}`).bool().default(false).defaultIn({ full: true }).doc("d"),
      wait: env(`OPRC_BENCH_WAIT_${index}`).duration({ bare: "s" }).default("2m").doc("d"),
      url: env(`OPRC_BENCH_URL_${index}`).url().optional().doc("d"),
      list: env(`OPRC_BENCH_LIST_${index}`).list().default([]).doc("d"),
      token: env(`OPRC_BENCH_TOKEN_${index}`).string().secret().optional().alias(`BENCH_TOKEN_${index}`).doc("d"),
    })),
    clusters: perName("OPRC_BENCH_CLUSTER_<NAME>_", { url: env("URL").url().doc("d") }),
  },
});

function group<T>(make: (index: number) => T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`group${index}`, make(index)]));
}

/** Half of the variables set, among a hundred others, like in a container. */
function environment(): Record<string, string> {
  const ours = Array.from({ length: 5 }, (_, index) => [
    [`OPRC_BENCH_PORT_${index}`, "8088"],
    [`OPRC_BENCH_FLAG_${index}`, "true"],
    [`OPRC_BENCH_WAIT_${index}`, "90"],
    [`OPRC_BENCH_URL_${index}`, "http://prometheus.monitoring:9090"],
    [`OPRC_BENCH_LIST_${index}`, "a,b,c"],
    [`BENCH_TOKEN_${index}`, "secret"],
    [`OPRC_BENCH_CLUSTER_C${index}_URL`, "http://crm:8088"],
  ]).flat() as [string, string][];
  const others = Array.from({ length: 100 }, (_, index): [string, string] => [`OTHER_${index}`, "value"]);
  return Object.fromEntries([["OPRC_BENCH_PROFILE", "full"], ...ours, ...others]);
}

/** Median time of one call in microseconds, over 31 samples of many calls. */
function medianMicros(work: () => unknown): number {
  const calls = 200;
  let kept: unknown;
  const samples = Array.from({ length: 31 }, () => {
    const start = performance.now();
    for (let call = 0; call < calls; call += 1) kept = work();
    return ((performance.now() - start) * 1000) / calls;
  });
  if (kept === undefined) throw new Error("the work returned nothing");
  return samples.toSorted((a, b) => a - b)[15] ?? Number.NaN;
}

/** The start of every service: configuration, observability, first log line. */
const FIRST_LINE = `
  import { defineConfig, loadConfig, loggingVariables } from "@oaas/config";
  import { realAmbient } from "@oaas/foundation/real";
  import { createObservability } from "@oaas/observability/node";
  const schema = defineConfig({ title: "Bench", prefixes: [], variables: { log: loggingVariables() } });
  const config = loadConfig(schema, { env: process.env });
  const log = { level: "info", format: config.log.format, isTerminal: false };
  const observability = createObservability({ service: "bench", version: "0", ambient: realAmbient, log });
  observability.log.info("first line");
`;

/** Median run time of a process that runs `code`, of seven runs, in milliseconds. */
function processMillis(code: string): number {
  const cwd = new URL("..", import.meta.url);
  const samples = Array.from({ length: 7 }, () => {
    const start = performance.now();
    const ended = spawnSync(process.execPath, ["--input-type=module", "-e", code], { cwd, timeout: 60_000 });
    if (ended.status !== 0) throw new Error(ended.stderr.toString());
    return performance.now() - start;
  });
  return samples.toSorted((a, b) => a - b)[3] ?? Number.NaN;
}

export const bench: Bench = {
  name: "config",
  run: async (log) => {
    const source = environment();
    const parsed = parseConfig(schema, { env: source });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    log(`parsing ${schema.variables.length} variables out of ${Object.keys(source).length} set`);
    const parse = (): unknown => parseConfig(schema, { env: source });
    const copy = (): unknown => Object.fromEntries(Object.entries(source));
    medianMicros(parse);
    medianMicros(copy);
    const parseMicros = medianMicros(parse);
    const copyMicros = medianMicros(copy);
    log("starting processes");
    const bareMillis = processMillis("0");
    const startMillis = processMillis(FIRST_LINE);
    return {
      title: "Configuration and start",
      measurements: [
        { name: "parse", value: parseMicros, unit: "µs", note: `${schema.variables.length} variables` },
        { name: "copy of the environment", value: copyMicros, unit: "µs" },
        {
          name: "cold start to first log line",
          value: startMillis,
          unit: "ms",
          note: "from TypeScript sources, unbundled",
        },
        { name: "cold start of Node alone", value: bareMillis, unit: "ms" },
      ],
      ratios: [
        {
          name: "copy / parse",
          value: copyMicros / parseMicros,
          floor: 0.01,
          explains:
            "Parsing costs at most a hundred copies of the environment; it happens once, before the first log line.",
        },
        {
          name: "Node alone / first log line",
          value: bareMillis / startMillis,
          explains: "Share of Node's own start; most of the rest is stripping types, which a bundle avoids.",
        },
      ],
    };
  },
};
