/** Entries that contain the text, or its letters in order; those that start with it first. */
export function rankMatches<T>(text: string, entries: readonly T[], labelOf: (entry: T) => string): readonly T[] {
  const wanted = text.toLowerCase();
  return entries
    .map((entry, index) => ({ entry, index, rank: rankOf(labelOf(entry).toLowerCase(), wanted) }))
    .filter(({ rank }) => rank !== undefined)
    .toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.index - b.index)
    .map(({ entry }) => entry);
}

function rankOf(label: string, wanted: string): number | undefined {
  if (label.startsWith(wanted)) return 0;
  if (label.includes(wanted)) return 1;
  let at = 0;
  for (const letter of label) if (letter === wanted[at]) at += 1;
  return at === wanted.length ? 2 : undefined;
}
