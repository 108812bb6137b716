import { unavailable, type Fault } from "@oaas/foundation";

/** The leader of the replicas. */
export interface Leadership {
  readonly isLeading: boolean;
  /** Identity of the last observed leader. */
  readonly leader: string | undefined;
}

/** The fault of a write on a replica that is not the leader. Names the leader. */
export function notLeaderFault({ leader }: Leadership): Fault {
  const detail = leader === undefined ? "no replica is the leader" : `"${leader}" is the leader`;
  return unavailable("the leader", `this replica serves reads only; ${detail}`, {
    code: "OAAS_NOT_LEADER",
    retryAfterMs: 1_000,
  });
}

/** Runs a write on the leader. A failure after leadership was lost is reported as such. */
export async function writeAsLeader<T>(leadership: Leadership, write: () => Promise<T>): Promise<T> {
  if (!leadership.isLeading) throw notLeaderFault(leadership);
  try {
    return await write();
  } catch (thrown) {
    // The write may have been applied, so that the code of calls without an effect does not fit.
    if (!leadership.isLeading) throw notLeaderFault(leadership).with({ code: "OAAS_UNAVAILABLE" });
    throw thrown;
  }
}
