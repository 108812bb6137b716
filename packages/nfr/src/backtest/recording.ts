import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { ComponentScale, RequirementTargets } from "../analyzer/analysis.ts";
import { readDecisionRecord, type DecisionRecord } from "../policy/record.ts";
import { SIGNALS, type Sample, type Series, type Signal } from "../samples.ts";

/** What was measured of some components over a time, and what was decided then. */
export interface Recording {
  /** The time between two decisions. */
  readonly tickMs: number;
  readonly components: readonly RecordedComponent[];
}

export interface RecordedComponent {
  readonly component: string;
  readonly requirements: RequirementTargets;
  /** `current` is absent when it is derived from the samples. */
  readonly scale: Omit<ComponentScale, "current"> & { readonly current?: number };
  readonly signals: Readonly<Partial<Record<Signal, Series>>>;
  /** The decisions of the recorded run, oldest first. */
  readonly decisions: readonly DecisionRecord[];
}

interface NumberField {
  readonly member: string;
  readonly max?: number;
  readonly min?: number;
}

const REQUIREMENT_FIELDS: Readonly<Record<string, NumberField>> = {
  min_throughput_rps: { member: "minThroughputRps" },
  max_latency_ms: { member: "maxLatencyMs" },
  availability: { member: "availability", max: 1 },
  max_error_rate: { member: "maxErrorRate", max: 1 },
};

const SCALE_FIELDS: Readonly<Record<string, NumberField>> = {
  current: { member: "current" },
  min: { member: "min" },
  max: { member: "max", min: 1 },
  cpu_request_millicores: { member: "cpuRequestMillicores", min: 1 },
  cpu_target: { member: "cpuTarget", max: 1 },
};

const DEFAULT_TICK_SECONDS = 30;
const PERCENTILES = [50, 95, 99] as const;
/** Bounds the memory of a recording: a month of all signals of a component. */
const MAX_SAMPLES = 2_000_000;

/**
 * Reads a recording. Samples have the form of Prometheus, `[seconds, "value"]`; values that are not finite are gaps.
 * Returns all violations.
 */
export function readRecording(document: unknown): Result<Recording, readonly Violation[]> {
  if (!isObject(document)) {
    const fix = "write an object with the list components";
    return err([{ path: ROOT_PATH, message: "is not an object", fix }]);
  }
  const reader = new Reader();
  reader.rejectUnknown(ROOT_PATH, document, ["version", "tick_secs", "components"]);
  const { version, components, tick_secs: tick = DEFAULT_TICK_SECONDS } = document;
  if (version !== 1) reader.add(pathOf(ROOT_PATH, "version"), "is not a known version", "write 1");
  if (typeof tick !== "number" || !(tick >= 1 && tick <= 3600)) {
    reader.add(pathOf(ROOT_PATH, "tick_secs"), "is not a time between decisions", "write 1 to 3600");
  }
  const path = pathOf(ROOT_PATH, "components");
  if (!Array.isArray(components) || components.length === 0) {
    reader.add(path, "is not a list of components", "add at least one component with its signals");
    return err(reader.violations);
  }
  const read = components.map((one: unknown, at) => reader.readComponent(pathOf(path, at), one));
  const known = read.filter((one) => one !== undefined);
  return reader.violations.length > 0
    ? err(reader.violations)
    : ok({ tickMs: (tick as number) * 1000, components: known });
}

class Reader {
  readonly violations: Violation[] = [];
  #samples = 0;

  add(path: string, message: string, fix?: string): void {
    this.violations.push({ path, message, ...(fix === undefined ? {} : { fix }) });
  }

  rejectUnknown(path: string, value: object, known: readonly string[]): void {
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.add(pathOf(path, name), "is not known", `use ${known.join(", ")}`);
    }
  }

  readComponent(path: string, value: unknown): RecordedComponent | undefined {
    if (!isObject(value)) {
      this.add(path, "is not an object", "write component, requirements, scale and signals");
      return undefined;
    }
    this.rejectUnknown(path, value, ["component", "requirements", "scale", "signals", "decisions"]);
    const { component } = value;
    if (typeof component !== "string" || component === "") {
      this.add(pathOf(path, "component"), "is not a name", "write the key of the function, or odgm");
    }
    return {
      component: String(component),
      requirements: this.#readRequirements(pathOf(path, "requirements"), value["requirements"]),
      scale: this.#readScale(pathOf(path, "scale"), value["scale"]),
      signals: this.#readSignals(pathOf(path, "signals"), value["signals"]),
      decisions: this.#readDecisions(pathOf(path, "decisions"), value["decisions"]),
    };
  }

  #readRequirements(path: string, value: unknown = {}): RequirementTargets {
    if (!isObject(value)) return this.#notAnObject(path);
    this.rejectUnknown(path, value, [...Object.keys(REQUIREMENT_FIELDS), "latency_percentile"]);
    const { latency_percentile: percentile } = value;
    if (percentile !== undefined && !PERCENTILES.some((one) => one === percentile)) {
      this.add(pathOf(path, "latency_percentile"), "is not measured", `write ${PERCENTILES.join(", ")}`);
    }
    return {
      ...this.#readNumbers(path, value, REQUIREMENT_FIELDS),
      ...(percentile === undefined ? {} : { latencyPercentile: percentile as 50 | 95 | 99 }),
    };
  }

  #readScale(path: string, value: unknown = {}): RecordedComponent["scale"] {
    if (!isObject(value)) return this.#notAnObject(path);
    this.rejectUnknown(path, value, [...Object.keys(SCALE_FIELDS), "can_scale_to_zero"]);
    const { can_scale_to_zero: canScaleToZero } = value;
    if (canScaleToZero !== undefined && typeof canScaleToZero !== "boolean") {
      this.add(pathOf(path, "can_scale_to_zero"), "is not true or false");
    }
    return {
      ...this.#readNumbers(path, value, SCALE_FIELDS),
      ...(typeof canScaleToZero === "boolean" ? { canScaleToZero } : {}),
    };
  }

  #readNumbers(path: string, value: Members, fields: Readonly<Record<string, NumberField>>): Record<string, number> {
    const read: Record<string, number> = {};
    for (const [name, { member, min = 0, max = 1e12 }] of Object.entries(fields)) {
      const number = value[name];
      if (number === undefined) continue;
      if (typeof number === "number" && number >= min && number <= max) read[member] = number;
      else this.add(pathOf(path, name), "is not a number in its range", `write a number from ${min} to ${max}`);
    }
    return read;
  }

  #readSignals(path: string, value: unknown): RecordedComponent["signals"] {
    if (!isObject(value)) return this.#notAnObject(path);
    this.rejectUnknown(path, value, SIGNALS);
    const signals: Partial<Record<Signal, Series>> = {};
    for (const signal of SIGNALS) {
      if (value[signal] === undefined) continue;
      signals[signal] = this.#readSeries(pathOf(path, signal), value[signal]);
    }
    if (signals.requests_per_second === undefined) {
      this.add(pathOf(path, "requests_per_second"), "is missing", "record the load: nothing is decided without it");
    }
    return signals;
  }

  #readSeries(path: string, value: unknown): Series {
    const samples: Sample[] = [];
    if (!Array.isArray(value)) {
      this.add(path, "is not a list of samples", 'write [[1700000000, "12.5"], …] as Prometheus returns it');
      return samples;
    }
    this.#samples += value.length;
    if (this.#samples > MAX_SAMPLES) {
      this.add(path, `exceeds the limit of ${MAX_SAMPLES} samples`, "record a shorter time or a longer step");
      return samples;
    }
    let last = Number.NEGATIVE_INFINITY;
    for (const [at, pair] of value.entries()) {
      const atMs = Array.isArray(pair) && typeof pair[0] === "number" ? Math.round(pair[0] * 1000) : Number.NaN;
      const number = Array.isArray(pair) && pair.length === 2 ? valueOf(pair[1]) : undefined;
      if (!Number.isFinite(atMs) || number === undefined) {
        this.add(pathOf(path, at), "is not a sample", 'write [seconds since 1970, "value"]');
        return samples;
      }
      if (atMs <= last) {
        this.add(pathOf(path, at), "is not after the sample before it", "sort the samples by time");
        return samples;
      }
      last = atMs;
      if (Number.isFinite(number)) samples.push({ atMs, value: number });
    }
    return samples;
  }

  #readDecisions(path: string, value: unknown = []): readonly DecisionRecord[] {
    if (!Array.isArray(value)) {
      this.add(
        path,
        "is not a list of decision records",
        "write the annotations oaas.io/decision-record of the events",
      );
      return [];
    }
    const records: DecisionRecord[] = [];
    for (const [at, one] of value.entries()) {
      const read = readDecisionRecord(one);
      if (read.ok) records.push(read.value);
      else
        for (const each of read.error) this.violations.push({ ...each, path: pathOf(path, at) + each.path.slice(1) });
    }
    return records.toSorted((a, b) => a.input.nowMs - b.input.nowMs);
  }

  #notAnObject(path: string): Record<string, never> {
    this.add(path, "is not an object");
    return {};
  }
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a sample; undefined when it is not one. Prometheus writes numbers as text, and `NaN`, `+Inf`. */
function valueOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value.replace(/Inf$/, "Infinity"));
  return Number.isNaN(number) && value !== "NaN" ? undefined : number;
}

/** Writes a recording as the document that `readRecording` reads. */
export function writeRecording({ tickMs, components }: Recording): object {
  return {
    version: 1,
    tick_secs: tickMs / 1000,
    components: components.map(({ component, requirements, scale, signals, decisions }) => ({
      component,
      requirements: {
        ...writeNumbers(requirements, REQUIREMENT_FIELDS),
        ...(requirements.latencyPercentile === undefined ? {} : { latency_percentile: requirements.latencyPercentile }),
      },
      scale: {
        ...writeNumbers(scale, SCALE_FIELDS),
        ...(scale.canScaleToZero === undefined ? {} : { can_scale_to_zero: scale.canScaleToZero }),
      },
      signals: Object.fromEntries(
        Object.entries(signals).map(([signal, series]) => [
          signal,
          series.map(({ atMs, value }) => [atMs / 1000, String(value)]),
        ]),
      ),
      ...(decisions.length === 0 ? {} : { decisions }),
    })),
  };
}

function writeNumbers(value: object, fields: Readonly<Record<string, NumberField>>): Record<string, unknown> {
  const members = value as Members;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { member }]) =>
      members[member] === undefined ? [] : [[name, members[member]]],
    ),
  );
}
