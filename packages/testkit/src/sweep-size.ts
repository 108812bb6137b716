/** The number of cases of a sweep: `bounded` in npm test, `full` in npm run sweep (OAAS_SWEEP=full). */
export function sweepSize(bounded: number, full: number): number {
  return process.env["OAAS_SWEEP"] === "full" ? full : bounded;
}
