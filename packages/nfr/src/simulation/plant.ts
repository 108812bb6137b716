import type { Random } from "@oaas/foundation";
import { EventHeap } from "./event-heap.ts";
import { increment, LatencyHistogram } from "./latency-histogram.ts";
import { normal, type Workload } from "./workload.ts";

/** Counters of a simulated function, as a scrape of its metrics would return them. All but the gauges only grow. */
export interface Scrape {
  readonly atMs: number;
  readonly arrived: number;
  readonly started: number;
  readonly failed: number;
  /** Requests that were slower than the latency target, failed ones included. */
  readonly slow: number;
  /** The time that all replicas together spent on requests. */
  readonly busyMs: number;
  /** Empty when they were not asked for. */
  readonly latencies: LatencyHistogram;
  /** Gauges. */
  readonly inService: number;
  readonly queueLength: number;
  readonly ready: number;
  readonly starting: number;
}

const NO_LATENCIES = new LatencyHistogram();
/** A waiting request fails after this time. */
const TIMEOUT_MS = 60_000;
/** The time until a new replica is ready: log-normal with this median, and a 99th percentile of about 20 s. */
const START_MEDIAN_MS = 4000;
const START_SPREAD = 0.7;

/**
 * A function as a queue in front of identical servers (M/G/c): requests are served in the order of their arrival by the
 * ready replicas. A new replica starts with a delay; a removed one finishes its requests.
 */
export class Plant {
  readonly #workload: Workload;
  readonly #random: Random;
  /** When requests in service end. */
  readonly #ends = new EventHeap();
  /** When starting replicas become ready, ascending. */
  #starting: number[] = [];
  #ready: number;
  #nowMs = 0;
  /** The queue is the range of requests from `#head` to `#arrived`. */
  #head = 0;
  #arrived = 0;
  #failed = 0;
  #slow = 0;
  #busyMs = 0;
  #replicaMs = 0;
  readonly #latencies = new LatencyHistogram();
  /** Per minute of arrival: all requests and the slow ones. */
  readonly minutes: { readonly requests: Uint32Array; readonly slow: Uint32Array };

  constructor(workload: Workload, random: Random, replicas: number) {
    const minutes = Math.ceil(workload.horizonMs / 60_000) + 1;
    this.#workload = workload;
    this.#random = random;
    this.#ready = replicas;
    this.minutes = { requests: new Uint32Array(minutes), slow: new Uint32Array(minutes) };
  }

  /** Ready and starting replicas. */
  get replicas(): number {
    return this.#ready + this.#starting.length;
  }

  get ready(): number {
    return this.#ready;
  }

  /** The sum of the times that replicas existed. */
  get replicaMs(): number {
    return this.#replicaMs;
  }

  /** Starts or removes replicas; starting ones are removed first. */
  scaleTo(replicas: number): void {
    for (let missing = replicas - this.replicas; missing > 0; missing -= 1) {
      this.#starting.push(this.#nowMs + START_MEDIAN_MS * Math.exp(START_SPREAD * normal(this.#random)));
    }
    this.#starting.sort((a, b) => a - b);
    const surplus = this.replicas - replicas;
    if (surplus <= 0) return;
    const cancelled = Math.min(surplus, this.#starting.length);
    this.#starting = this.#starting.slice(0, this.#starting.length - cancelled);
    this.#ready -= surplus - cancelled;
  }

  /** Runs until this time. */
  advance(toMs: number): void {
    const { arrivalsMs } = this.#workload;
    for (;;) {
      const arrival = arrivalsMs[this.#arrived] ?? Number.POSITIVE_INFINITY;
      const end = this.#ends.next;
      const start = this.#starting[0] ?? Number.POSITIVE_INFINITY;
      const next = Math.min(arrival, end, start);
      if (next > toMs) break;
      this.#moveTo(next);
      if (end === next) this.#ends.pop();
      else if (start === next) {
        this.#starting.shift();
        this.#ready += 1;
      } else {
        increment(this.minutes.requests, Math.floor(arrival / 60_000));
        this.#arrived += 1;
      }
      this.#serveQueue();
    }
    this.#moveTo(toMs);
  }

  /** Counts the requests that still wait at the end of the run as failed. */
  end(): void {
    for (; this.#head < this.#arrived; this.#head += 1) {
      this.#failed += 1;
      this.#countSlow(this.#workload.arrivalsMs[this.#head] as number);
    }
  }

  /** The counters now. Response times are copied only when asked for, because that takes longest. */
  scrape(hasLatencies = false): Scrape {
    return {
      atMs: this.#nowMs,
      arrived: this.#arrived,
      started: this.#head - this.#failed,
      failed: this.#failed,
      slow: this.#slow,
      busyMs: this.#busyMs,
      latencies: hasLatencies ? this.#latencies.copy() : NO_LATENCIES,
      inService: this.#ends.size,
      queueLength: this.#arrived - this.#head,
      ready: this.#ready,
      starting: this.#starting.length,
    };
  }

  #moveTo(nowMs: number): void {
    const elapsed = nowMs - this.#nowMs;
    this.#replicaMs += elapsed * this.replicas;
    this.#busyMs += elapsed * this.#ends.size;
    this.#nowMs = nowMs;
  }

  #serveQueue(): void {
    const { arrivalsMs, servicesMs, concurrency, latencyTargetMs } = this.#workload;
    while (this.#head < this.#arrived && this.#ends.size < this.#ready * concurrency) {
      const arrival = arrivalsMs[this.#head] as number;
      const service = servicesMs[this.#head] as number;
      const waited = this.#nowMs - arrival;
      const hasFailed = waited > TIMEOUT_MS;
      this.#head += 1;
      if (hasFailed) this.#failed += 1;
      else {
        this.#ends.push(this.#nowMs + service);
        this.#latencies.add(waited + service);
      }
      if (hasFailed || waited + service > latencyTargetMs) this.#countSlow(arrival);
    }
  }

  #countSlow(arrivalMs: number): void {
    this.#slow += 1;
    increment(this.minutes.slow, Math.floor(arrivalMs / 60_000));
  }
}
