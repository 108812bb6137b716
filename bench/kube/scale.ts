/** A share of a benchmark's full size, for trying it out: `OAAS_BENCH_SCALE=0.05`. What is judged and kept is the full size. */
export function scaled(full: number): number {
  const scale = Number(process.env["OAAS_BENCH_SCALE"] ?? 1);
  return Math.max(1, Math.round(full * scale));
}
