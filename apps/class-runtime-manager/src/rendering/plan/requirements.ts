import type { ClassFunction, ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { Environment } from "../model/cluster-facts.ts";

type Stated = NonNullable<ClassRuntimeSpec["nfr_requirements"]>;
type Consistency = NonNullable<Stated["consistency"]>;

/** Requirements with all spellings normalized. */
export interface Requirements {
  readonly throughputRps?: number;
  readonly latencyMs?: number;
  /** 0 to 1. */
  readonly availability?: number;
  readonly consistency?: Consistency;
  /** 0 to 1. */
  readonly cpuTarget?: number;
}

/**
 * Requirements of the class. Consistency of the state takes precedence over the class, and the class over the
 * environment.
 */
export function classRequirements(spec: ClassRuntimeSpec, environment?: Environment): Requirements {
  const stated = normalizeRequirements(spec.nfr_requirements);
  const consistency =
    spec.state_spec?.consistency_model ?? stated.consistency ?? environment?.spec.odgm.defaults?.consistency_level;
  return { ...stated, ...(consistency === undefined ? {} : { consistency }) };
}

/** Requirements of a function: its own, then `qos_requirement`, then the class. */
export function functionRequirements(fn: ClassFunction, ofClass: Requirements): Requirements {
  const qos = fn.qos_requirement;
  return {
    ...ofClass,
    ...(qos === undefined || qos.throughput === 0 ? {} : { throughputRps: qos.throughput }),
    ...(qos === undefined ? {} : { availability: qos.availability }),
    ...normalizeRequirements(fn.nfr_requirements),
  };
}

function normalizeRequirements(stated: Stated | undefined): Requirements {
  if (stated === undefined) return {};
  const throughputRps = stated.min_throughput_rps ?? stated.throughput;
  const latencyMs = stated.max_latency_ms ?? stated.max_latency;
  const availability =
    stated.availability ?? (stated.availability_pct === undefined ? undefined : stated.availability_pct / 100);
  const { consistency, cpu_utilization_target: cpuTarget } = stated;
  return {
    ...(throughputRps === undefined ? {} : { throughputRps }),
    ...(latencyMs === undefined ? {} : { latencyMs }),
    ...(availability === undefined ? {} : { availability }),
    ...(consistency === undefined ? {} : { consistency }),
    ...(cpuTarget === undefined ? {} : { cpuTarget }),
  };
}
