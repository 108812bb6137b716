/** A limit. A function is asked at each use, so that the limit can change. */
export type Limit = number | (() => number);

export function limitValue(limit: Limit): number {
  return typeof limit === "number" ? limit : limit();
}
