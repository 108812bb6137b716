/**
 * What every other package stands on. Nothing here does input or output.
 *
 * Reading order: violation (what is wrong with an input), fault (what went wrong at all), time and random (ports to
 * the surroundings), deadline, bell and backoff (waiting, but not for ever), canonical (the one text and hash of a JSON value),
 * result, brand, exhaustive (small words).
 * `@oaas/foundation/real` has the machine's clock and dice, `@oaas/foundation/virtual` the stepped and seeded ones.
 */
export { pathOf, ROOT_PATH, violationsUnder, violationText, type Violation } from "./faults/violation.ts";
export {
  alreadyExists,
  cancelled,
  conflict,
  deadlineExceeded,
  dominantPart,
  failedPrecondition,
  Fault,
  faultMeaning,
  internal,
  invalidArgument,
  invalidArgumentMessage,
  isFault,
  notFound,
  resourceExhausted,
  unavailable,
  type FaultContext,
  type FaultEvidence,
  type FaultDetail,
  type FaultKind,
  type FaultOptions,
  type FaultPart,
} from "./faults/fault.ts";
export { FAULT_CODES, type FaultCode, type FaultCodeEntry } from "./faults/fault-codes.ts";
export { sleep, timestamp, type Clock, type Timer, type Timers } from "./time/time.ts";
export { randomInt, type Ids, type Random } from "./random.ts";
export type { Ambient } from "./ambient.ts";
export { abortFault, orAbort, startDeadline, type Deadline } from "./time/deadline.ts";
export { Bell } from "./concurrency/notifier.ts";
export { backoffDelay, DEFAULT_BACKOFF, retry, type BackoffPolicy, type RetryOptions } from "./time/backoff.ts";
export { canonicalJson, equalJson, equalMembers } from "./json/canonical-json.ts";
export { err, ok, type Result } from "./result.ts";
export type { Brand } from "./brand.ts";
export { unreachable } from "./exhaustive.ts";
export { KeyedQueue } from "./concurrency/keyed-queue.ts";
export { Semaphore, type SemaphoreOptions } from "./concurrency/semaphore.ts";
