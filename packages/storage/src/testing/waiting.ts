/** Reads a number of batches with events, without bookmarks, and stops the watch. */
export async function take<T extends { readonly events: readonly unknown[] }>(
  batches: AsyncIterable<T>,
  count: number,
): Promise<T[]> {
  const collected: T[] = [];
  if (count === 0) return collected;
  for await (const batch of batches) {
    if (batch.events.length > 0) collected.push(batch);
    if (collected.length === count) break;
  }
  return collected;
}

/** Advances time in small steps until the probe succeeds; throws if it does not. */
export async function until(
  elapse: (ms: number) => Promise<void>,
  what: string,
  probe: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let turn = 0; turn < 400; turn += 1) {
    if (await probe()) return;
    await elapse(50);
  }
  throw new Error(`never came true: ${what}`);
}
