/**
 * Building blocks of every other package, without input or output; this entry runs in a browser.
 *
 * Reading order: faults (violations and the error type), time (clock, timers, randomness and ids as ports; deadlines,
 * retries), concurrency (semaphore, keyed queue and limit, notifier, circuit breaker), json (canonical JSON), documents (limits of
 * documents from outside), http (requests of foreign web pages, warnings), text (nearest name), result, brand, exhaustive.
 * Other entries: `real` (system clock and randomness), `virtual` (stepped clock, seeded randomness), `hash` (SHA-256),
 * `yaml` (YAML within limits), `schedule` (cron schedules with time zones).
 */
export {
  countViolations,
  joinViolations,
  limitViolations,
  MAX_VIOLATIONS,
  omittedViolations,
  pathOf,
  ROOT_PATH,
  violationsUnder,
  violationText,
  type Violation,
} from "./faults/violation.ts";
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
export { randomInt, type Ambient, type Ids, type Random } from "./time/ambient.ts";
export { abortFault, orAbort, startDeadline, type Deadline } from "./time/deadline.ts";
export { backoffDelay, DEFAULT_BACKOFF, retry, type BackoffPolicy, type RetryOptions } from "./time/backoff.ts";
export { canonicalJson, equalJson, equalMembers } from "./json/canonical-json.ts";
export { findDocumentProblem, REQUEST_LIMITS, type DocumentLimits } from "./documents/document-limits.ts";
export { findJsonTextProblem, parseJson } from "./documents/json-text.ts";
export { editDistance, nearest, nearestName } from "./text/nearest-name.ts";
export { err, ok, type Result } from "./result.ts";
export type { Brand } from "./brand.ts";
export { unreachable } from "./exhaustive.ts";
export { Notifier } from "./concurrency/notifier.ts";
export {
  admit,
  CLOSED,
  effectiveState,
  recordOutcome,
  type Admission,
  type Breaker,
  type BreakerPolicy,
  type BreakerState,
  type CallOutcome,
  type CallPriority,
} from "./concurrency/circuit-breaker.ts";
export { KeyedLimit } from "./concurrency/keyed-limit.ts";
export { limitValue, type Limit } from "./concurrency/limit.ts";
export { KeyedQueue } from "./concurrency/keyed-queue.ts";
export { MergedStreams } from "./concurrency/merged-streams.ts";
export { Semaphore, type SemaphoreOptions } from "./concurrency/semaphore.ts";
export {
  findCrossSiteProblem,
  isLoopbackHost,
  sentRequest,
  type CrossSiteProblem,
  type CrossSiteRules,
} from "./http/cross-site.ts";
export { formatWarnings, parseWarnings } from "./http/warning-header.ts";
