/** Reads so many batches with events and stops the watch; bookmarks are left out. */
export async function take<T extends { readonly events: readonly unknown[] }>(
  batches: AsyncIterable<T>,
  count: number,
): Promise<T[]> {
  const taken: T[] = [];
  if (count === 0) return taken;
  for await (const batch of batches) {
    if (batch.events.length > 0) taken.push(batch);
    if (taken.length === count) break;
  }
  return taken;
}

/** Lets time pass in small steps until the probe holds; throws when it never does. */
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
