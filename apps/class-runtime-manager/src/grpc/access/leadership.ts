import { unavailable, type Fault } from "@oaas/foundation";

/** Who acts. */
export interface Leadership {
  readonly isLeading: boolean;
  /** Who leads, as last seen. */
  readonly leader: string | undefined;
}

/** The answer of a replica that may not write, naming the one that may. */
export function notLeading({ leader }: Leadership): Fault {
  const who = leader === undefined ? "none leads at the moment" : `"${leader}" leads`;
  return unavailable("the leader", `this replica serves reads only; ${who}`, { retryAfterMs: 1_000 });
}

/** Does a write, and only while leading; leadership that is lost on the way is told as such. */
export async function whileLeading<T>(leadership: Leadership, write: () => Promise<T>): Promise<T> {
  if (!leadership.isLeading) throw notLeading(leadership);
  try {
    return await write();
  } catch (thrown) {
    if (!leadership.isLeading) throw notLeading(leadership);
    throw thrown;
  }
}
