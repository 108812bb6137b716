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
