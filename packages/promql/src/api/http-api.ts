import { Fault } from "@oaas/foundation";
import { invalidQuery } from "../errors.ts";
import { QueryEngine, type Point, type QueryResult, type ResultSeries } from "../evaluate/evaluate.ts";
import type { EvaluationOptions } from "../evaluate/context.ts";
import { formatValue } from "../evaluate/format-number.ts";
import { labelsToObject, labelValue } from "../labels.ts";
import type { StoredSeries, TimeSeriesStore } from "../store/time-series-store.ts";
import { parseQuery } from "../syntax/parse-query.ts";
import {
  durationParameter,
  invalidParameter,
  requiredParameter,
  timeParameter,
  type Parameters,
} from "./parameters.ts";

/** A request to the API, independent of the server that received it. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query string. */
  readonly path: string;
  /** The query string, without the question mark. */
  readonly search: string;
  /** The body of a POST, as a form. */
  readonly body?: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface ApiOptions extends EvaluationOptions {
  readonly store: TimeSeriesStore;
  readonly now: () => number;
  /** Shown by `/api/v1/status/buildinfo`. */
  readonly version: string;
}

const MAX_SELECTORS = 20;
const LABEL_VALUES = /^\/api\/v1\/label\/([a-zA-Z_]\w*)\/values$/;

/** The HTTP API of Prometheus for queries: GET, or POST with a form. */
export function createPrometheusApi(options: ApiOptions): (request: ApiRequest) => ApiResponse {
  const engine = new QueryEngine(options.store, options);
  const context: ApiContext = { ...options, engine };
  return (request) => {
    if (request.path === "/-/ready" || request.path === "/-/healthy")
      return text(200, "Prometheus-compatible source is ready.\n");
    const handle = findHandler(request.path);
    if (!handle) return text(404, "404 page not found\n");
    if (!["GET", "HEAD", "POST"].includes(request.method)) return text(405, "Method Not Allowed\n");
    return answer(() => handle(context, parametersOf(request)));
  };
}

interface ApiContext extends ApiOptions {
  readonly engine: QueryEngine;
}

type Handler = (context: ApiContext, parameters: Parameters) => unknown;

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["/api/v1/query", queryInstant],
  ["/api/v1/query_range", queryRange],
  [
    "/api/v1/series",
    (context, parameters) => selectSeries(context, parameters, true).map(({ labels }) => labelsToObject(labels)),
  ],
  ["/api/v1/labels", listLabels],
  ["/api/v1/status/buildinfo", showBuild],
]);

function findHandler(path: string): Handler | undefined {
  const label = LABEL_VALUES.exec(path)?.[1];
  return label === undefined ? HANDLERS.get(path) : (context, parameters) => listValues(context, parameters, label);
}

function parametersOf({ search, method, body }: ApiRequest): Parameters {
  const parameters = new URLSearchParams(search);
  if (method === "POST") for (const [name, value] of new URLSearchParams(body ?? "")) parameters.append(name, value);
  return parameters;
}

function queryInstant({ engine, now }: ApiContext, parameters: Parameters): unknown {
  const query = requiredParameter(parameters, "query");
  const atMs = timeParameter(parameters, "time", now());
  return resultJson(named("query", () => engine.queryInstant(query, atMs)));
}

function queryRange({ engine }: ApiContext, parameters: Parameters): unknown {
  const range = {
    startMs: timeParameter(parameters, "start"),
    endMs: timeParameter(parameters, "end"),
    stepMs: durationParameter(parameters, "step"),
  };
  const query = requiredParameter(parameters, "query");
  return resultJson(named("query", () => engine.queryRange(query, range)));
}

function resultJson(result: QueryResult): unknown {
  switch (result.type) {
    case "scalar":
      return { resultType: "scalar", result: pointJson(result.point) };
    case "string":
      return { resultType: "string", result: [result.atMs / 1000, result.value] };
    case "vector":
      return { resultType: "vector", result: result.series.map(instantJson) };
    case "matrix":
      return { resultType: "matrix", result: result.series.map(rangeJson) };
  }
}

function instantJson({ labels, points }: ResultSeries): unknown {
  const [point] = points;
  return { metric: labelsToObject(labels), value: point ? pointJson(point) : undefined };
}

function rangeJson({ labels, points }: ResultSeries): unknown {
  return { metric: labelsToObject(labels), values: points.map(pointJson) };
}

function pointJson({ atMs, value }: Point): readonly [number, string] {
  return [atMs / 1000, formatValue(value)];
}

function listLabels(context: ApiContext, parameters: Parameters): readonly string[] {
  const names = selectSeries(context, parameters, false).flatMap(({ labels }) => labels.map(([name]) => name));
  return [...new Set(names)].toSorted();
}

function listValues(context: ApiContext, parameters: Parameters, label: string): readonly string[] {
  const values = selectSeries(context, parameters, false).map(({ labels }) => labelValue(labels, label));
  return [...new Set(values)].filter((value) => value !== "").toSorted();
}

/** The series of any of the selectors `match[]` with a sample between start and end. */
function selectSeries({ store }: ApiContext, parameters: Parameters, isRequired: boolean): readonly StoredSeries[] {
  const selectors = parameters.getAll("match[]");
  if (isRequired && selectors.length === 0) throw invalidQuery("no match[] parameter provided");
  if (selectors.length > MAX_SELECTORS) throw invalidParameter("match[]", `more than ${MAX_SELECTORS} selectors`);
  const fromMs = timeParameter(parameters, "start", Number.MIN_SAFE_INTEGER);
  const toMs = timeParameter(parameters, "end", Number.MAX_SAFE_INTEGER);
  const found =
    selectors.length === 0 ? store.select([]) : selectors.flatMap((selector) => store.select(matchersOf(selector)));
  return [...new Set(found)].filter((series) => series.slice(fromMs, toMs).times.length > 0);
}

function matchersOf(selector: string): Matchers {
  const expr = named("match[]", () => parseQuery(selector));
  if (expr.type !== "selector") throw invalidParameter("match[]", "not a series selector");
  return expr.matchers;
}

type Matchers = Extract<ReturnType<typeof parseQuery>, { type: "selector" }>["matchers"];

function showBuild({ version }: ApiContext): unknown {
  return { version, revision: "", branch: "", buildUser: "", buildDate: "", goVersion: "" };
}

/** Puts the name of the parameter into the message of an invalid query. */
function named<T>(parameter: string, run: () => T): T {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === "invalid-argument")
      throw invalidParameter(parameter, thrown.message);
    throw thrown;
  }
}

function answer(run: () => unknown): ApiResponse {
  try {
    return json(200, { status: "success", data: run() });
  } catch (thrown) {
    const fault = Fault.from(thrown);
    const { status, errorType } = errorOf(fault);
    return json(status, { status: "error", errorType, error: fault.message });
  }
}

/** 400 for a wrong query, 422 for one that cannot be executed, as Prometheus answers. */
function errorOf({ detail }: Fault): { readonly status: number; readonly errorType: string } {
  const isWrong =
    detail.kind === "invalid-argument" || (detail.kind === "resource-exhausted" && detail.limit === "steps");
  if (isWrong) return { status: 400, errorType: "bad_data" };
  return detail.kind === "internal" ? { status: 500, errorType: "internal" } : { status: 422, errorType: "execution" };
}

function json(status: number, body: unknown): ApiResponse {
  return { status, contentType: "application/json", body: JSON.stringify(body) };
}

function text(status: number, body: string): ApiResponse {
  return { status, contentType: "text/plain; charset=utf-8", body };
}
