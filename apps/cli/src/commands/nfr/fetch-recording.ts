import { unavailable, type Ambient } from "@oaas/foundation";
import { seededIds, seededRandom } from "@oaas/foundation/virtual";
import { SIGNALS, type Sample, type Series, type Signal } from "@oaas/nfr";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import type { Recording } from "@oaas/nfr/backtest";
import { assignSeries, buildQuery, ComponentIndex, type ComponentTarget, type NamingScheme } from "@oaas/nfr/queries";
import {
  createPrometheusClient,
  findBaseUrlProblem,
  identityHeaders,
  type PrometheusClient,
  type PrometheusTransport,
} from "@oaas/prometheus-client";
import { UsageError } from "../../exit-code.ts";
import type { ProcessEnvironment } from "../../process-environment.ts";
import type { Session } from "../../session/session.ts";

export interface FetchFlags {
  readonly prometheus?: string;
  readonly class?: string;
  readonly namespace?: string;
  readonly function?: string;
  readonly workload?: string;
  readonly naming?: string;
  readonly from?: string;
  readonly to?: string;
  readonly step?: number;
  readonly maxLatency?: number;
  readonly minThroughput?: number;
  readonly availability?: number;
  readonly minReplicas?: number;
  readonly maxReplicas?: number;
  readonly cpuRequest?: number;
}

const DEFAULT_RANGE_MS = 6 * 3_600_000;
const TIMEOUT_MS = 60_000;
/** Prometheus returns at most 11,000 samples per series. */
const STEPS_PER_QUERY = 10_000;
const MAX_STEPS = 200_000;
const WORKLOAD_KINDS = ["Deployment", "StatefulSet", "Knative"] as const;

/** Reads the signals of one component from Prometheus, with the queries of the analyzer. */
export async function fetchRecording(session: Session, flags: FetchFlags): Promise<Recording> {
  const { environment } = session;
  const url = checkUrl(flags.prometheus ?? "");
  const target = targetOf(flags);
  const range = rangeOf(flags, environment.clock.now());
  const client = createClient(environment, url);
  const scheme: NamingScheme = flags.naming === "opentelemetry" ? "opentelemetry" : "prometheus";
  const signals: Partial<Record<Signal, Series>> = {};
  try {
    for (const [index, name] of SIGNALS.entries()) {
      if (name === "slow_requests_per_second" && target.maxLatencyMs === undefined) continue;
      if (environment.terminal.isInteractive) session.printNote(`reading ${name}, ${index + 1} of ${SIGNALS.length}\n`);
      const series = await readSignal(client, name, { target, scheme, range, signal: environment.signal });
      if (series.length > 0) signals[name] = series;
    }
  } finally {
    await client.close();
  }
  if (signals.requests_per_second === undefined)
    throw new UsageError(
      `${url} has no requests of class ${target.owner} in namespace ${target.namespace} in this time`,
      "check --class, --namespace, --function, --from and --to; see docs/guides/collect-metrics.md",
    );
  return { tickMs: range.stepMs, components: [{ ...componentOf(flags, target), signals, decisions: [] }] };
}

function checkUrl(url: string): string {
  const problem = findBaseUrlProblem(url);
  if (problem !== undefined) throw new UsageError(`--prometheus ${problem.message}`, problem.fix);
  return url;
}

function targetOf(flags: FetchFlags): ComponentTarget {
  if (flags.class === undefined)
    throw new UsageError(
      "--class is required with --prometheus",
      "name the class runtime, as oaas runtime list shows it",
    );
  const { namespace = "default", function: functionLabel, maxLatency } = flags;
  const name = flags.workload ?? flags.class;
  return {
    key: flags.class,
    namespace,
    owner: flags.class,
    functionLabel: functionLabel ?? flags.class,
    workloads: WORKLOAD_KINDS.map((kind) => ({ kind, namespace, name })),
    ...(maxLatency === undefined ? {} : { maxLatencyMs: maxLatency }),
  };
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

function rangeOf({ from, to, step = DEFAULT_ANALYZER_SETTINGS.stepMs }: FetchFlags, nowMs: number): Range {
  const toMs = to === undefined ? nowMs : timeOf("--to", to, nowMs);
  const fromMs = from === undefined ? toMs - DEFAULT_RANGE_MS : timeOf("--from", from, nowMs);
  const steps = (toMs - fromMs) / step;
  if (!(steps >= 1)) throw new UsageError("--from is not before --to", "use for example --from 6h");
  if (steps > MAX_STEPS)
    throw new UsageError(`${Math.floor(steps)} steps exceed the limit of ${MAX_STEPS}`, "use a longer --step");
  return { fromMs: Math.ceil(fromMs / step) * step, toMs: Math.floor(toMs / step) * step, stepMs: step };
}

/** A time, or how long ago. */
function timeOf(flag: string, text: string, nowMs: number): number {
  const { count, unit = "" } = /^(?<count>\d+)(?<unit>[smhd])$/.exec(text)?.groups ?? {};
  const sizes: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const atMs = count === undefined ? Date.parse(text) : nowMs - Number(count) * (sizes[unit] ?? 0);
  if (Number.isNaN(atMs))
    throw new UsageError(`${flag} "${text}" is not a time`, "use 2026-11-16T08:00:00Z, or 6h for six hours ago");
  return atMs;
}

function componentOf(flags: FetchFlags, { owner }: ComponentTarget) {
  const { maxLatency, minThroughput, availability, minReplicas, maxReplicas, cpuRequest } = flags;
  return {
    component: flags.function ?? owner,
    requirements: {
      ...(maxLatency === undefined ? {} : { maxLatencyMs: maxLatency }),
      ...(minThroughput === undefined ? {} : { minThroughputRps: minThroughput }),
      ...(availability === undefined ? {} : { availability }),
    },
    scale: {
      ...(minReplicas === undefined ? {} : { min: minReplicas }),
      ...(maxReplicas === undefined ? {} : { max: maxReplicas }),
      ...(cpuRequest === undefined ? {} : { cpuRequestMillicores: cpuRequest }),
    },
  };
}

async function readSignal(
  client: PrometheusClient,
  name: Signal,
  options: {
    readonly target: ComponentTarget;
    readonly scheme: NamingScheme;
    readonly range: Range;
    readonly signal: AbortSignal;
  },
): Promise<Series> {
  const { target, scheme, range, signal } = options;
  const { fromMs, toMs, stepMs } = range;
  const index = new ComponentIndex([target]);
  const windowMs = Math.max(DEFAULT_ANALYZER_SETTINGS.rateWindowMs, stepMs);
  const expression = buildQuery(name, { namespaces: [target.namespace], windowMs }, scheme);
  const samples: Sample[] = [];
  for (let startMs = fromMs; startMs <= toMs; startMs += STEPS_PER_QUERY * stepMs) {
    const endMs = Math.min(toMs, startMs + (STEPS_PER_QUERY - 1) * stepMs);
    const result = await client.queryRange({ expression, startMs, endMs, stepMs }, { signal });
    if (result.isPartial)
      throw unavailable("Prometheus", `the answer is partial: ${result.warnings.join("; ")}; nothing was replayed`);
    samples.push(...(assignSeries(index, name, result.series).signals.get(target.key)?.total ?? []));
  }
  return samples;
}

function createClient(environment: ProcessEnvironment, url: string): PrometheusClient {
  const { clock, timers, env } = environment;
  const random = seededRandom(clock.now());
  const ambient: Ambient = { clock, timers, random, ids: seededIds(random) };
  const headers = identityHeaders({ token: env["OAAS_PROMETHEUS_TOKEN"], tenant: env["OAAS_PROMETHEUS_TENANT"] });
  return createPrometheusClient({
    transport: fetchTransport(environment),
    ambient,
    url,
    urlSetting: "--prometheus",
    headers: () => headers,
    timeoutMs: TIMEOUT_MS,
  });
}

/** Sends requests as the other commands do. */
function fetchTransport({ fetch }: ProcessEnvironment): PrometheusTransport {
  return {
    send: async ({ method, url, headers, body, signal }) => {
      const init = { method, headers: { ...headers }, signal, ...(body === undefined ? {} : { body }) };
      const response = await fetch(url, init).catch((cause: unknown) => {
        signal.throwIfAborted();
        const { code, message } = cause as NodeJS.ErrnoException;
        throw unavailable("Prometheus", `cannot reach ${new URL(url).origin} (${code ?? message})`, { cause });
      });
      const contentType = response.headers.get("content-type");
      return {
        status: response.status,
        headers: contentType === null ? {} : { "content-type": contentType },
        chunks: async function* () {
          yield new TextEncoder().encode(await response.text());
        },
      };
    },
    close: async () => undefined,
  };
}
