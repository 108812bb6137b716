import { DEFAULT_BACKOFF, type BackoffPolicy } from "@oaas/foundation";

/**
 * All backoff policies of the package manager.
 *
 * Each call to a cluster has one retry layer. Sagas retry writes, because they have a journal and a retry budget. The CRM
 * gateway retries reads and health checks, because their callers do not.
 */
export const BACKOFF = {
  /** Retries of a saga step (`DEPLOY_MAX_RETRIES`). Starts slowly, because a write is expensive for the cluster. */
  sagaStep: { baseMs: 200, capMs: 5_000, factor: 2, jitter: 0.5 },
  /** Retries of a journal write. Starts fast, because the saga makes no progress until the store accepts it. */
  sagaJournal: { baseMs: 50, capMs: 2_000, factor: 2, jitter: 0.5 },
  /** Retries of the lease of the saga engine after it is lost. */
  sagaLease: DEFAULT_BACKOFF,
  /** Polls of the deployments that a package cascade waits for. */
  packageCascade: { baseMs: 50, capMs: 5_000, factor: 2, jitter: 0.2 },
  /** Retries of reads and health checks within their deadline (`retry_attempts` of the cluster). */
  crmRead: { baseMs: 100, capMs: 2_000, factor: 2, jitter: 0.5 },
  /** New connections in search of a replica that serves a call. Short, because each one reaches a random replica. */
  crmReplica: { baseMs: 20, capMs: 500, factor: 2, jitter: 0.5 },
  /** Polls of a deleted unit before it is created again on a manager that cannot update. */
  unitDeletion: { baseMs: 50, capMs: 1_000, factor: 2, jitter: 0.2 },
  /** Reconnects of a watch stream. */
  watchReconnect: { baseMs: 500, capMs: 30_000, factor: 2, jitter: 0.5 },
  /** Checks of a failing cluster. The health check interval is the effective cap. */
  failingHealthCheck: { baseMs: 1_000, capMs: Number.MAX_SAFE_INTEGER, factor: 2, jitter: 0.2 },
  /** Reopens of a watch on the store. Constant, because the storage backend already backs off. */
  eventWatch: { baseMs: 500, capMs: 500, factor: 1, jitter: 0 },
  /** Reopens of the SQLite file after an I/O error. Starts fast, because every request fails meanwhile. */
  storeReopen: { baseMs: 100, capMs: 10_000, factor: 2, jitter: 0.5 },
  /** Writes to an audit sink that rejects entries. */
  auditSink: { baseMs: 100, capMs: 5_000, factor: 2, jitter: 0.2 },
  /** Restarts of a worker process that keeps exiting. */
  workerRestart: { baseMs: 1_000, capMs: 30_000, factor: 2, jitter: 0.2 },
} as const satisfies Record<string, BackoffPolicy>;
