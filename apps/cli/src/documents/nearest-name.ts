/** The known name with the smallest edit distance; undefined if none is close. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceOf(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(2, Math.floor(name.length / 3)) ? best.candidate : undefined;
}

/** Levenshtein distance. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[index] === to[column - 1] ? 0 : 1);
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
