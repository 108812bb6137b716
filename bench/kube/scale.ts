/** Scales a benchmark down for a trial run: `OAAS_BENCH_SCALE=0.05`. Only results of the full size count. */
export function scaled(full: number): number {
  const scale = Number(process.env["OAAS_BENCH_SCALE"] ?? 1);
  return Math.max(1, Math.round(full * scale));
}
