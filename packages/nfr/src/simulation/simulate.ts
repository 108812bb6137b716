import type { Random } from "@oaas/foundation";
import { Plant, type Scrape } from "./plant.ts";
import { findViolatedMinutes, scoreOf, type Score } from "./score.ts";
import type { Workload } from "./workload.ts";

/** What an autoscaler sees when it decides. */
export interface Observation {
  readonly nowMs: number;
  /** Scrapes that have arrived, oldest first; older ones than the history of the autoscaler are dropped. */
  readonly scrapes: readonly Scrape[];
  /** Ready and starting replicas. */
  readonly replicas: number;
  readonly ready: number;
}

/** An autoscaler under test. */
export interface Autoscaler {
  /** The time between two decisions. */
  readonly intervalMs: number;
  /** The time between two scrapes, and until a scrape can be read. Default: Prometheus, 15 s and 30 s. */
  readonly scrapeMs?: number;
  readonly lagMs?: number;
  /** Scrapes at multiples of this time have response times. Default: none has. */
  readonly latencyEveryMs?: number;
  /** How long scrapes are remembered. */
  readonly historyMs: number;
  /** The number of replicas from now on. */
  decide(observation: Observation): number;
}

/** One change of the number of replicas. */
export interface Change {
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
}

export interface SimulationResult extends Score {
  readonly changes: readonly Change[];
  /** The violated minutes, counted from the start. */
  readonly violatedAt: readonly number[];
}

const SCRAPE_MS = 15_000;
const LAG_MS = 30_000;

export interface SimulationOptions {
  readonly random: Random;
  readonly startReplicas?: number;
}

/** Runs an autoscaler against a workload. The same random numbers give the same result. */
export function simulate(workload: Workload, autoscaler: Autoscaler, options: SimulationOptions): SimulationResult {
  return runToEnd(simulateInSteps(workload, autoscaler, options));
}

/** The result of a computation in steps. */
export function runToEnd<T>(steps: Generator<number, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in steps, so that progress can be shown: yields the share that is done after each decision. */
export function* simulateInSteps(
  workload: Workload,
  autoscaler: Autoscaler,
  options: SimulationOptions,
): Generator<number, SimulationResult> {
  const {
    scrapeMs = SCRAPE_MS,
    lagMs = LAG_MS,
    intervalMs,
    historyMs,
    latencyEveryMs = Number.POSITIVE_INFINITY,
  } = autoscaler;
  const { minReplicas, maxReplicas, horizonMs } = workload;
  const plant = new Plant(workload, options.random, options.startReplicas ?? minReplicas);
  const changes: Change[] = [];
  const scrapes: Scrape[] = [];
  let nextScrape = scrapeMs;
  let nextDecision = intervalMs;
  while (Math.min(nextScrape, nextDecision) <= horizonMs) {
    const nowMs = Math.min(nextScrape, nextDecision);
    plant.advance(nowMs);
    if (nowMs === nextScrape) {
      scrapes.push(plant.scrape(nowMs % latencyEveryMs === 0));
      nextScrape += scrapeMs;
    }
    if (nowMs !== nextDecision) continue;
    yield nowMs / horizonMs;
    nextDecision += intervalMs;
    while ((scrapes[0]?.atMs ?? nowMs) < nowMs - lagMs - historyMs) scrapes.shift();
    const known = scrapes.filter(({ atMs }) => atMs <= nowMs - lagMs);
    const wanted = autoscaler.decide({ nowMs, scrapes: known, replicas: plant.replicas, ready: plant.ready });
    const to = Math.min(maxReplicas, Math.max(minReplicas, Math.round(wanted)));
    if (to === plant.replicas) continue;
    changes.push({ atMs: nowMs, from: plant.replicas, to });
    plant.scaleTo(to);
  }
  plant.advance(horizonMs);
  plant.end();
  const score = scoreOf(workload, plant, changes, options.startReplicas ?? minReplicas);
  return { ...score, changes, violatedAt: findViolatedMinutes(plant) };
}
