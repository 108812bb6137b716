import { err, findJsonTextProblem, ok, type Result } from "@oaas/foundation";
import { seriesName, type LabelledSeries, type QueryResult } from "./query.ts";

/** An error that the server reported as a JSON document. */
export interface ApiError {
  readonly type: string;
  readonly message: string;
}

/** Why a body is not a query result. */
export type ParseProblem =
  | { readonly kind: "api-error"; readonly error: ApiError }
  /** Not the answer of a Prometheus API; `message` completes "the server returns …". */
  | { readonly kind: "foreign"; readonly message: string }
  | { readonly kind: "too-many-samples" };

/** Status, data, result, series, values, pair: no answer is nested more deeply. */
const MAX_DEPTH = 10;
/** A sample is a list of two. */
const NODES_PER_SAMPLE = 3;
const OTHER_NODES = 200_000;
const MAX_LISTED = 10;

/** Parses the body of a query response. */
export function parseResponse(text: string, maxSamples: number): Result<QueryResult, ParseProblem> {
  const document = parseDocument(text, maxSamples);
  if (!document.ok) return document;
  const { status, data, error, errorType } = document.value;
  if (status === "error") return err({ kind: "api-error", error: { type: textOf(errorType), message: textOf(error) } });
  if (status !== "success" || !isObject(data)) return foreign('JSON without "status": "success" and "data"');
  return parseData(data, document.value, maxSamples);
}

type JsonObject = Readonly<Record<string, unknown>>;

function parseDocument(text: string, maxSamples: number): Result<JsonObject, ParseProblem> {
  const start = text.trimStart();
  if (start === "") return foreign("an empty body");
  if (start.startsWith("<")) return foreign("an HTML page");
  const limits = { nodes: maxSamples * NODES_PER_SAMPLE + OTHER_NODES, depth: MAX_DEPTH };
  const problem = findJsonTextProblem(text, limits);
  if (problem?.message.includes("nested")) return foreign("deeply nested JSON");
  if (problem !== undefined) return err({ kind: "too-many-samples" });
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? ok(value) : foreign("JSON that is not an object");
  } catch {
    return foreign(`text that is not JSON (${JSON.stringify(start.slice(0, 40))})`);
  }
}

function parseData(data: JsonObject, document: JsonObject, maxSamples: number): Result<QueryResult, ParseProblem> {
  const rows = rowsOf(data);
  if (rows === undefined) return foreign(`a result of type ${JSON.stringify(data["resultType"])}`);
  const read = new SeriesReader(maxSamples);
  for (const row of rows) {
    const problem = read.add(row);
    if (problem !== undefined) return err(problem);
  }
  const warnings = textsOf(document["warnings"]);
  return ok({
    ...read.finish(),
    warnings,
    // VictoriaMetrics reports isPartial; Thanos and Mimir report warnings. Warnings about the query itself have a prefix.
    isPartial: document["isPartial"] === true || warnings.some((warning) => !warning.startsWith("PromQL ")),
  });
}

interface Row {
  readonly labels: unknown;
  readonly pairs: unknown;
  readonly histograms: number;
}

/** The rows of a vector, matrix or scalar; undefined for other types. */
function rowsOf({ resultType, result }: JsonObject): readonly Row[] | undefined {
  if (!Array.isArray(result)) return undefined;
  if (resultType === "scalar") return [{ labels: {}, pairs: [result], histograms: 0 }];
  if (resultType !== "vector" && resultType !== "matrix") return undefined;
  return result.map((row: unknown) => {
    if (!isObject(row)) return { labels: undefined, pairs: undefined, histograms: 0 };
    const { metric, value, values, histogram, histograms } = row;
    return {
      labels: metric,
      pairs: values ?? (value === undefined ? [] : [value]),
      histograms: Array.isArray(histograms) ? histograms.length : histogram === undefined ? 0 : 1,
    };
  });
}

/** Collects series, within the limit of samples. */
class SeriesReader {
  readonly #series = new Map<string, LabelledSeries>();
  readonly #duplicates = new Set<string>();
  readonly #maxSamples: number;
  #samples = 0;
  #dropped = 0;

  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  add({ labels, pairs, histograms }: Row): ParseProblem | undefined {
    if (!isLabels(labels) || !Array.isArray(pairs)) return foreignProblem("a series without labels or values");
    this.#dropped += histograms;
    this.#samples += pairs.length;
    if (this.#samples > this.#maxSamples) return { kind: "too-many-samples" };
    const samples: { atMs: number; value: number }[] = [];
    for (const pair of pairs as unknown[]) {
      const sample = readSample(pair);
      if (sample === undefined) return foreignProblem(`an invalid sample ${JSON.stringify(pair)?.slice(0, 60)}`);
      const isLater = sample.atMs > (samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY);
      if (isLater && Number.isFinite(sample.value)) samples.push(sample);
      else this.#dropped += 1;
    }
    const name = seriesName(labels);
    if (this.#series.has(name)) this.#duplicates.add(name);
    else this.#series.set(name, { labels, samples });
    return undefined;
  }

  finish(): Pick<QueryResult, "series" | "droppedSamples" | "duplicates"> {
    for (const name of this.#duplicates) this.#series.delete(name);
    return {
      series: [...this.#series.values()],
      droppedSamples: this.#dropped,
      duplicates: [...this.#duplicates].slice(0, MAX_LISTED),
    };
  }
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const NOT_FINITE = /^([+-]?Inf|NaN)$/;

/** Reads `[seconds, "value"]`; NaN and infinite values are NaN; undefined when it is not a sample. */
function readSample(pair: unknown): { readonly atMs: number; readonly value: number } | undefined {
  if (!Array.isArray(pair) || pair.length !== 2) return undefined;
  const [seconds, text] = pair as [unknown, unknown];
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || typeof text !== "string") return undefined;
  const atMs = Math.round(seconds * 1000);
  if (NUMBER.test(text)) return { atMs, value: Number(text) };
  return NOT_FINITE.test(text) ? { atMs, value: Number.NaN } : undefined;
}

function isLabels(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every((label) => typeof label === "string");
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 500) : "";
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value
        .filter((one) => typeof one === "string")
        .slice(0, MAX_LISTED)
        .map(textOf)
    : [];
}

function foreignProblem(message: string): ParseProblem {
  return { kind: "foreign", message };
}

function foreign(message: string): Result<never, ParseProblem> {
  return err(foreignProblem(message));
}
