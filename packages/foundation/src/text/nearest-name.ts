/** Damerau-Levenshtein distance (optimal string alignment). */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/** Returns the candidate with the smallest distance; the first of equals. */
export function nearest(
  name: string,
  candidates: Iterable<string>,
): { readonly name: string; readonly distance: number } {
  let best = { name: "", distance: Number.POSITIVE_INFINITY };
  for (const candidate of candidates) {
    const distance = editDistance(name, candidate);
    if (distance < best.distance) best = { name: candidate, distance };
  }
  return best;
}

/** Longer names are not compared: the work grows with the length, and a name of megabytes is not a typo. */
const MAX_COMPARED = 100;

/** The known name that was probably meant, in any case; undefined if none is close. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  const byLowerCase = new Map<string, string>();
  for (const each of known) if (!byLowerCase.has(each.toLowerCase())) byLowerCase.set(each.toLowerCase(), each);
  const best = nearest(name.toLowerCase(), byLowerCase.keys());
  return best.distance <= Math.max(2, Math.floor(name.length / 3)) ? byLowerCase.get(best.name) : undefined;
}
