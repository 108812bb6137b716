import type { Window } from "./aggregates.ts";
import { coveredMs, valueAt } from "./window.ts";

const MINUTE = 60_000;

/** Six hours in buckets of five minutes, and three days in buckets of one hour: enough for all burn rate windows. */
const FINE = { bucketMs: 5 * MINUTE, buckets: 73 };
const COARSE = { bucketMs: 60 * MINUTE, buckets: 73 };

/** All requests and the bad ones of the last three days, for one kind of bad request. */
export interface RequestCounts {
  /** Samples between these times are counted. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly fine: Buckets;
  readonly coarse: Buckets;
}

/** Counts per bucket, oldest first; the last bucket starts at `last * bucketMs`. */
export interface Buckets {
  readonly last: number;
  readonly total: readonly number[];
  readonly bad: readonly number[];
}

/** What is remembered about the requests of a component. */
export interface RequestHistory {
  readonly errors?: RequestCounts;
  readonly slow?: RequestCounts;
}

/** Rates of all requests and of the bad ones at the same times. */
export interface RequestRates {
  readonly requests: Window;
  readonly bad: Window;
  readonly stepMs: number;
}

/** Adds the samples that are not counted yet, before or after the counted ones. */
export function addRequests(counts: RequestCounts | undefined, rates: RequestRates): RequestCounts | undefined {
  const { times, values } = rates.requests;
  const fine = openBuckets(counts?.fine, FINE.buckets);
  const coarse = openBuckets(counts?.coarse, COARSE.buckets);
  let sinceMs = counts?.sinceMs;
  let untilMs = counts?.untilMs;
  const knownSince = counts?.sinceMs ?? Number.POSITIVE_INFINITY;
  const knownUntil = counts?.untilMs ?? Number.NEGATIVE_INFINITY;
  for (let i = 0; i < times.length; i += 1) {
    const atMs = times[i] ?? 0;
    const isOlder = atMs <= knownSince;
    if (!isOlder && atMs <= knownUntil) continue;
    const bad = valueAt(rates.bad, atMs, rates.stepMs);
    if (bad === undefined) continue;
    const startMs = atMs - coveredMs(atMs, times[i - 1], rates.stepMs);
    const seconds = (atMs - (isOlder ? startMs : Math.max(startMs, knownUntil))) / 1000;
    const total = (values[i] ?? 0) * seconds;
    const badTotal = Math.min(bad, values[i] ?? 0) * seconds;
    addToBuckets(fine, bucketOf(atMs, FINE.bucketMs), total, badTotal);
    addToBuckets(coarse, bucketOf(atMs, COARSE.bucketMs), total, badTotal);
    sinceMs = Math.min(sinceMs ?? startMs, startMs);
    untilMs = Math.max(untilMs ?? atMs, atMs);
  }
  if (sinceMs === undefined || untilMs === undefined) return undefined;
  if (sinceMs === counts?.sinceMs && untilMs === counts.untilMs) return counts;
  return { sinceMs, untilMs, fine: closeBuckets(fine), coarse: closeBuckets(coarse) };
}

/** Requests and bad requests of a window that ends now, rounded up to whole buckets. */
export function countRequests(counts: RequestCounts, nowMs: number, windowMs: number): { total: number; bad: number } {
  const isFine = windowMs <= (FINE.buckets - 1) * FINE.bucketMs;
  const { bucketMs } = isFine ? FINE : COARSE;
  const { last, total, bad } = isFine ? counts.fine : counts.coarse;
  // The newest bucket is partial; the oldest one counts when more than half of it is in the window.
  const first = Math.round((nowMs - windowMs) / bucketMs);
  const newest = bucketOf(nowMs, bucketMs);
  const oldest = last - (total.length - 1);
  const sums = { total: 0, bad: 0 };
  const end = Math.min(total.length, newest - oldest + 1);
  for (let i = Math.max(0, first - oldest); i < end; i += 1) {
    sums.total += total[i] ?? 0;
    sums.bad += bad[i] ?? 0;
  }
  return sums;
}

/** The bucket of a sample, which covers the time before it. */
function bucketOf(atMs: number, bucketMs: number): number {
  return Math.ceil(atMs / bucketMs) - 1;
}

interface OpenBuckets {
  last: number | undefined;
  readonly capacity: number;
  total: number[];
  bad: number[];
}

function openBuckets(buckets: Buckets | undefined, capacity: number): OpenBuckets {
  return { last: buckets?.last, capacity, total: [...(buckets?.total ?? [])], bad: [...(buckets?.bad ?? [])] };
}

function addToBuckets(open: OpenBuckets, bucket: number, total: number, bad: number): void {
  if (open.last === undefined) open.last = bucket;
  if (bucket > open.last) appendBuckets(open, bucket - open.last);
  const missing = open.last - bucket + 1 - open.total.length;
  if (missing > 0) {
    if (open.total.length + missing > open.capacity) return;
    open.total.unshift(...Array.from({ length: missing }, () => 0));
    open.bad.unshift(...Array.from({ length: missing }, () => 0));
  }
  const index = open.total.length - 1 - (open.last - bucket);
  open.total[index] = roundCount((open.total[index] ?? 0) + total);
  open.bad[index] = roundCount((open.bad[index] ?? 0) + bad);
}

function appendBuckets(open: OpenBuckets, count: number): void {
  open.last = (open.last ?? 0) + count;
  if (count >= open.capacity) {
    open.total = [];
    open.bad = [];
    return;
  }
  for (let i = 0; i < count; i += 1) {
    open.total.push(0);
    open.bad.push(0);
  }
  const surplus = open.total.length - open.capacity;
  if (surplus > 0) {
    open.total.splice(0, surplus);
    open.bad.splice(0, surplus);
  }
}

function closeBuckets({ last, total, bad }: OpenBuckets): Buckets {
  return { last: last ?? 0, total, bad };
}

/** Hundredths of a request keep the stored numbers short. */
function roundCount(count: number): number {
  return Math.round(count * 100) / 100;
}
