import { backoffDelay, Fault, sleep, type Ambient, type Deadline, type FaultCode } from "@oaas/foundation";
import { BACKOFF } from "../../../backoff-policies.ts";

/** Faults of a replica that did not start the call, while another one may serve it. */
const ELSEWHERE: ReadonlySet<FaultCode> = new Set(["OAAS_NOT_LEADER", "OAAS_STOPPING"]);

/**
 * Connections that one call uses. Each reaches a random replica, so that with three of them the leader is missed once in
 * 600 times; then, or while no replica is the leader, the call fails after about five seconds.
 */
const MAX_CONNECTIONS = 16;

/** Time for an attempt. With less, the fault of the last one says more than a timeout. */
const MIN_ATTEMPT_MS = 250;

export interface ReplicaSearch {
  /** Makes the next call use a new connection. */
  readonly reconnect: () => void;
  readonly ambient: Ambient;
  readonly deadline: Deadline;
}

/**
 * Runs a call, and again over a new connection while it reaches a replica that does not serve it. The connection then
 * stays, so that the next calls reach the right replica at once.
 *
 * Guarantees: a call that may have had an effect is not repeated.
 */
export async function findServingReplica<T>(
  work: () => Promise<T>,
  { reconnect, ambient, deadline }: ReplicaSearch,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const delayMs = backoffDelay(BACKOFF.crmReplica, attempt - 1, ambient.random);
    try {
      return await work();
    } catch (thrown) {
      const isElsewhere = ELSEWHERE.has(Fault.from(thrown).code);
      const isLate = deadline.remainingMs() < delayMs + MIN_ATTEMPT_MS;
      if (!isElsewhere || attempt >= MAX_CONNECTIONS || isLate) throw thrown;
    }
    await sleep(ambient.timers, delayMs, deadline.signal);
    reconnect();
  }
}
