import { sha256Hex } from "@oaas/foundation/hash";
import type { CollectionLayout, Place } from "./stored-state.ts";

/** Rules for the partition of an object in the destination. */
export const PARTITION_RULES = ["modulo", "id-hash"] as const;
export type PartitionRule = (typeof PARTITION_RULES)[number];

/** A collection of the source and the one that its objects are copied to. */
export interface CollectionPair {
  readonly source: CollectionLayout;
  readonly target: CollectionLayout;
}

/**
 * The partition of an object in a collection with `partitions` partitions.
 *
 * - `modulo`: the partition in the source modulo the number; the same partition if there are enough.
 * - `id-hash`: the first 32 bits of the SHA-256 of the id, modulo the number.
 */
export function targetPartition(rule: PartitionRule, { partition, id }: Place, partitions: number): number {
  const number = rule === "modulo" ? partition : Number.parseInt(sha256Hex(id).slice(0, 8), 16);
  return number % partitions;
}

/** Why collections cannot be paired, and the fix. */
export interface PairingProblem {
  readonly message: string;
  readonly fix: string;
}

/**
 * Pairs collections: as stated (`orders`, or `orders=carts` for another name), else by name, else the only one of both
 * sides.
 */
export function pairCollections(
  source: readonly CollectionLayout[],
  target: readonly CollectionLayout[],
  stated: readonly string[],
): readonly CollectionPair[] | PairingProblem {
  const [onlySource, ...otherSources] = source;
  const [onlyTarget, ...otherTargets] = target;
  if (stated.length === 0 && onlySource && onlyTarget && otherSources.length + otherTargets.length === 0)
    return [{ source: onlySource, target: onlyTarget }];
  const names = stated.length === 0 ? source.map(({ name }) => name) : stated;
  const pairs: CollectionPair[] = [];
  for (const text of names) {
    const [from = "", to = from] = text.split("=", 2);
    const pair = { source: find(source, from), target: find(target, to) };
    if (pair.source === undefined) return missing(`the source has no collection "${from}"`, source);
    if (pair.target === undefined) return missing(`the destination has no collection "${to}"`, target);
    pairs.push({ source: pair.source, target: pair.target });
  }
  return pairs;
}

function find(collections: readonly CollectionLayout[], name: string): CollectionLayout | undefined {
  return collections.find((each) => each.name === name);
}

function missing(message: string, collections: readonly CollectionLayout[]): PairingProblem {
  const names = collections.map(({ name }) => name).join(", ");
  return { message, fix: `it has ${names}: name a pair with --collection SOURCE=DESTINATION` };
}
