import { Semaphore } from "@oaas/foundation";
import { sha256Hex } from "@oaas/foundation/hash";
import { fingerprint } from "./entries.ts";
import { targetPartition, type CollectionPair, type PartitionRule } from "./mapping.ts";
import { joinById, type IdGroup } from "./object-streams.ts";
import type { ListedObject, Place, StateSource, StateTarget } from "./stored-state.ts";

/** What a pass does with differences: `check` counts them, `copy` removes them. */
export interface PassOptions {
  readonly pairs: readonly CollectionPair[];
  readonly rule: PartitionRule;
  readonly mode: "check" | "copy";
  /** Whether a copying pass deletes objects that the source does not have. */
  readonly deletesExtra: boolean;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Called after each object. */
  readonly onObject?: (tally: PassTally) => void;
}

/** What a pass found. */
export interface PassTally {
  /** Objects of the source. */
  objects: number;
  equal: number;
  /** Objects that the destination does not have; written by a copying pass. */
  missing: number;
  /** Objects with other entries in the destination; written by a copying pass. */
  different: number;
  /** Objects that only the destination has; deleted by a copying pass that may. */
  extra: number;
  /** Objects of the source that map to the place of another one. */
  collisions: number;
  /** Objects of the source that changed between listing and reading. */
  changed: number;
  /** Of places, versions and contents of the source, in any order: equal when nothing changed between two passes. */
  digest: bigint;
  /** The first differences and collisions. */
  readonly examples: string[];
}

const MAX_EXAMPLES = 5;

/**
 * Compares all objects of two stores, and makes the destination equal in a copying pass.
 *
 * *Guarantees*: the work is bounded in memory; nothing is deleted that the source has; a pass may end at any point and be
 * repeated, because it depends on nothing but what the stores contain.
 */
export async function runPass(source: StateSource, target: StateTarget, options: PassOptions): Promise<PassTally> {
  const tally: PassTally = {
    objects: 0,
    equal: 0,
    missing: 0,
    different: 0,
    extra: 0,
    collisions: 0,
    changed: 0,
    digest: 0n,
    examples: [],
  };
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const running = new Semaphore({ name: "copies", permits: options.concurrency });
  const pending = new Set<Promise<void>>();
  try {
    for (const pair of options.pairs) {
      const from = source.objects(pair.source.name);
      for await (const group of joinById(from, target.objects(pair.target.name))) {
        for (const work of planGroup(group, pair, target, options, tally)) {
          const release = await running.acquire(signal);
          const task = work()
            .catch((thrown: unknown) => stopping.abort(thrown))
            .finally(() => {
              release();
              pending.delete(task);
              options.onObject?.(tally);
            });
          pending.add(task);
        }
        if (stopping.signal.aborted) throw stopping.signal.reason;
      }
    }
  } catch (thrown) {
    stopping.abort(thrown);
  }
  await Promise.all(pending);
  if (stopping.signal.aborted) throw stopping.signal.reason;
  return tally;
}

type Work = () => Promise<void>;

/** The work for the objects with one id. */
function planGroup(
  { id, source, target: existing }: IdGroup<ListedObject, ListedObject>,
  pair: CollectionPair,
  target: StateTarget,
  options: PassOptions,
  tally: PassTally,
): readonly Work[] {
  const places = new Set<number>();
  const collection = pair.target.name;
  const works: Work[] = [];
  for (const object of source) {
    tally.objects += 1;
    const partition = targetPartition(options.rule, object, pair.target.partitions);
    if (places.has(partition)) {
      tally.collisions += 1;
      addExample(tally, `${collection}/${partition}/${id} would get the objects of several partitions`);
      continue;
    }
    places.add(partition);
    const there = existing.find((each) => each.partition === partition);
    works.push(() => compareObject(object, there, { collection, partition, id }, target, options, tally));
  }
  for (const { partition } of existing.filter((each) => !places.has(each.partition))) {
    tally.extra += 1;
    if (options.mode === "copy" && options.deletesExtra) works.push(() => target.delete(collection, { partition, id }));
  }
  return works;
}

async function compareObject(
  object: ListedObject,
  there: ListedObject | undefined,
  { collection, ...at }: Place & { readonly collection: string },
  target: StateTarget,
  { mode }: PassOptions,
  tally: PassTally,
): Promise<void> {
  if (mode === "check" && there === undefined) {
    tally.missing += 1;
    addToDigest(tally, [collection, object], undefined);
    return;
  }
  const [content, other] = await Promise.all([object.read(), there?.read()]);
  const bytes = content && fingerprint(content.entries);
  addToDigest(tally, [collection, object], bytes);
  if (content === undefined || content.version !== object.version) tally.changed += 1;
  // Deleted, or read from a node that is behind: a later pass sees it.
  if (content === undefined || content.version < object.version) return;
  if (other !== undefined && fingerprint(other.entries) === bytes) {
    tally.equal += 1;
    return;
  }
  if (other === undefined) tally.missing += 1;
  else {
    tally.different += 1;
    addExample(tally, `${collection}/${at.partition}/${at.id} has other entries`);
  }
  if (mode === "copy") await target.set(collection, at, content.entries);
}

/** Contents count too: the versions of an object that was deleted and created again start again. */
function addToDigest(
  tally: PassTally,
  [collection, { id, partition, version }]: readonly [string, ListedObject],
  bytes: string | undefined,
): void {
  const hash = sha256Hex(JSON.stringify([collection, id, partition, version, bytes]));
  tally.digest = BigInt.asUintN(256, tally.digest + BigInt(`0x${hash}`));
}

function addExample({ examples }: PassTally, text: string): void {
  if (examples.length < MAX_EXAMPLES) examples.push(text);
}
