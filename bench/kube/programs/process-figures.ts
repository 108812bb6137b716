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
