/** CPU time of this process so far, user and system, in milliseconds. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The live heap after two garbage collections; the second one frees objects held by finalizers of the first. */
export async function heapBytes(): Promise<number> {
  const { gc } = globalThis;
  if (!gc) throw new Error("start with --expose-gc");
  // Buffers of the last response are released in the following event loop turns.
  await new Promise((resolve) => setTimeout(resolve, 50));
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/** Prints one result line for the benchmark. */
export function printResult(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** Syncs a cache once and returns its cost. `fill` returns a function that counts the objects after the measurement. */
export async function measureSync(fill: () => Promise<{ count(): number; stop(): Promise<void> }>): Promise<void> {
  const heap = await heapBytes();
  const rss = process.memoryUsage.rss();
  const cpu = cpuMillis();
  const start = performance.now();
  const filled = await fill();
  const ms = performance.now() - start;
  const cpuMs = cpuMillis() - cpu;
  const heapAfter = await heapBytes();
  printResult({
    objects: filled.count(),
    ms,
    cpuMs,
    heapBytes: heapAfter - heap,
    rssBytes: process.memoryUsage.rss() - rss,
    peakRssBytes: peakRssBytes(),
  });
  await filled.stop();
}

const PATIENCE_MS = 45_000;

/** Counts the events of one replay and returns the time from the first to the last. */
export async function measureReplay(events: number, start: (seen: () => void) => () => Promise<void>): Promise<void> {
  let count = 0;
  let first = { at: 0, cpu: 0 };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`${count} of ${events} events`)), PATIENCE_MS);
  const stop = start(() => {
    count += 1;
    if (count === 1) first = { at: performance.now(), cpu: cpuMillis() };
    if (count === events) resolve();
  });
  await promise;
  clearTimeout(timer);
  printResult({ events: events - 1, ms: performance.now() - first.at, cpuMs: cpuMillis() - first.cpu });
  await stop();
}
