import { internal } from "@oaas/foundation";
import type { Place } from "./stored-state.ts";

/** Compares ids by code points, the order of state stores, which compare bytes of UTF-8. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0;
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const difference = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** By id, then by partition. */
export function comparePlaces(a: Place, b: Place): number {
  return compareIds(a.id, b.id) || a.partition - b.partition;
}

/** Merges sorted streams into one; holds one object of each. */
export async function* mergeSorted<T extends Place>(streams: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const heads: { readonly rest: AsyncIterator<T>; value: T }[] = [];
  try {
    for (const stream of streams) {
      const rest = stream[Symbol.asyncIterator]();
      const first = await rest.next();
      if (!first.done) heads.push({ rest, value: first.value });
    }
    for (;;) {
      const [least] = heads.toSorted((a, b) => comparePlaces(a.value, b.value));
      if (least === undefined) return;
      yield least.value;
      const next = await least.rest.next();
      if (next.done) heads.splice(heads.indexOf(least), 1);
      else least.value = next.value;
    }
  } finally {
    for (const { rest } of heads) await rest.return?.();
  }
}

/** The objects with one id in two stores. */
export interface IdGroup<S, T> {
  readonly id: string;
  readonly source: readonly S[];
  readonly target: readonly T[];
}

/** Joins two streams that are sorted by id; holds the objects of one id. Throws when one of them is not sorted. */
export async function* joinById<S extends Place, T extends Place>(
  source: AsyncIterable<S>,
  target: AsyncIterable<T>,
): AsyncGenerator<IdGroup<S, T>> {
  const [left, right] = [groupById(source), groupById(target)];
  try {
    let [a, b] = [await left.next(), await right.next()];
    while (!a.done || !b.done) {
      const order = a.done ? 1 : b.done ? -1 : compareIds(a.value.id, b.value.id);
      const id = order <= 0 ? (a.value?.id ?? "") : (b.value?.id ?? "");
      yield {
        id,
        source: order <= 0 ? (a.value?.members ?? []) : [],
        target: order >= 0 ? (b.value?.members ?? []) : [],
      };
      if (order <= 0) a = await left.next();
      if (order >= 0) b = await right.next();
    }
  } finally {
    await left.return(undefined);
    await right.return(undefined);
  }
}

interface Group<T> {
  readonly id: string;
  readonly members: readonly T[];
}

async function* groupById<T extends Place>(stream: AsyncIterable<T>): AsyncGenerator<Group<T>, undefined> {
  let group: T[] = [];
  for await (const each of stream) {
    const last = group.at(-1);
    if (last !== undefined && comparePlaces(last, each) >= 0)
      throw internal(`objects are not listed in order: "${each.id}" comes after "${last.id}"`);
    if (last !== undefined && last.id !== each.id) {
      yield { id: last.id, members: group };
      group = [];
    }
    group.push(each);
  }
  const [first] = group;
  if (first !== undefined) yield { id: first.id, members: group };
  return undefined;
}
