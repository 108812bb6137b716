import fc from "fast-check";
import { equalJson, type JsonValue } from "@oaas/kube-core";
import { differencesOf } from "../src/judge.ts";
import type { Target } from "../src/target.ts";
import { defineMix } from "./fuzz-kind.ts";
import { sequences, type Sequence } from "./operations.ts";
import { runSequence } from "./run-sequence.ts";

export interface FuzzOutcome {
  readonly sequences: number;
  /** The smallest sequences that show a difference, as text. */
  readonly found: readonly string[];
}

/** Concurrent sequences: a single one would mostly wait. */
const WORKERS = 8;

/** The number of further runs to shrink a difference: enough for a short sequence within minutes. */
const SHRINK_RUNS = 150;

/**
 * Runs random sequences on both servers and compares all responses. fast-check shrinks a difference to the smallest
 * sequence that still shows it. The same
 * seed generates the same sequences.
 */
export async function fuzz(real: Target, embedded: Target, count: number, seed: number): Promise<FuzzOutcome> {
  await Promise.all([real, embedded].map(defineMix));
  let runs = 0;
  const runOnBoth = async (sequence: Sequence): Promise<void> => {
    runs += 1;
    const namespace = `fuzz-${runs}`;
    const [theirs, ours] = await Promise.all([
      runSequence(real, namespace, sequence),
      runSequence(embedded, namespace, sequence),
    ]);
    compare(sequence, theirs, ours);
  };
  const details = await Promise.all(
    Array.from({ length: WORKERS }, (_, worker) =>
      fc.check(fc.asyncProperty(sequences, boundedShrinking(runOnBoth)), {
        numRuns: Math.ceil(count / WORKERS),
        seed: seed + worker,
        endOnFailure: false,
      }),
    ),
  );
  const found = details.filter(({ failed }) => failed).map((detail) => String(detail.errorInstance));
  return { sequences: runs, found };
}

/**
 * Passes every sequence after this many runs since the first failure: fast-check then keeps the smallest failure found.
 */
export function boundedShrinking(
  run: (sequence: Sequence) => Promise<void>,
  limit = SHRINK_RUNS,
): (sequence: Sequence) => Promise<void> {
  let left: number | undefined;
  return async (sequence) => {
    if (left === 0) return;
    if (left !== undefined) left -= 1;
    try {
      await run(sequence);
    } catch (error) {
      left ??= limit;
      throw error;
    }
  };
}

/** Throws at the first difference. Listed differences do not appear in sequences. */
function compare({ operations, watched }: Sequence, theirs: readonly JsonValue[], ours: readonly JsonValue[]): void {
  for (const [index, real] of theirs.entries()) {
    const embedded = ours[index] ?? null;
    if (equalJson(real, embedded)) continue;
    const lines = operations.slice(0, index + 1).map((operation) => `  ${JSON.stringify(operation)}`);
    const what = index < operations.length ? "" : ` (objects at the end, or events of ${watched ?? "none"})`;
    throw new Error(
      `${lines.join("\n")}\n  → step ${index + 1}${what}\n    ${differencesOf(real, embedded).slice(0, 12).join("\n    ")}`,
    );
  }
}
