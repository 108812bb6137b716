const DAY_MS = 86_400_000;

/** Functions of a time in UTC. */
export const DATE_FUNCTIONS: ReadonlyMap<string, (date: Date) => number> = new Map<string, (date: Date) => number>([
  ["minute", (date) => date.getUTCMinutes()],
  ["hour", (date) => date.getUTCHours()],
  ["day_of_week", (date) => date.getUTCDay()],
  ["day_of_month", (date) => date.getUTCDate()],
  ["day_of_year", (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1],
  ["days_in_month", (date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()],
  ["month", (date) => date.getUTCMonth() + 1],
  ["year", (date) => date.getUTCFullYear()],
]);
