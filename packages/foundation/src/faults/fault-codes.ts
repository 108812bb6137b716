/** Meaning of a code and what the reader can do. `docs/reference/errors.md` is generated from this list. */
export interface FaultCodeEntry {
  readonly meaning: string;
  readonly remedy: string;
}

/** All codes of faults. Each kind has a general code of the same name; the others are more specific. */
export const FAULT_CODES = {
  OAAS_INVALID_ARGUMENT: {
    meaning: "The input is invalid. Each violation names its field.",
    remedy: "Correct the named fields and send the request again.",
  },
  OAAS_UNAUTHENTICATED: {
    meaning: "The request has no valid credentials.",
    remedy: "Send a valid bearer token or client certificate.",
  },
  OAAS_PERMISSION_DENIED: {
    meaning: "The caller is authenticated but not authorized for this action.",
    remedy: "Use an identity with a role that allows the action.",
  },
  OAAS_NOT_FOUND: {
    meaning: "The resource does not exist.",
    remedy: "Check the name; list the existing resources.",
  },
  OAAS_ALREADY_EXISTS: {
    meaning: "Another resource has this name.",
    remedy: "Choose another name, or update the existing resource.",
  },
  OAAS_CONFLICT: {
    meaning: "The resource was changed concurrently.",
    remedy: "Read it again, apply the change to the new version, and retry.",
  },
  OAAS_VERSION_MISMATCH: {
    meaning: "The resource no longer has the version named in the request.",
    remedy: "Read it again, apply the change to the new version, and send its ETag in If-Match.",
  },
  OAAS_REQUEST_RUNNING: {
    meaning: "A request with this idempotency key is in progress.",
    remedy: "Send the same request with the same key again after Retry-After to get the response of the first one.",
  },
  OAAS_FAILED_PRECONDITION: {
    meaning: "The request is valid, but the current state does not allow it.",
    remedy: "Change the state named in the message, then retry.",
  },
  OAAS_RESOURCE_EXHAUSTED: {
    meaning: "A limit was reached.",
    remedy: "Wait and retry, or raise the limit named in the message.",
  },
  OAAS_UNAVAILABLE: {
    meaning: "A dependency cannot be reached.",
    remedy: "Retry with backoff; check the dependency named in the message.",
  },
  OAAS_NOT_LEADER: {
    meaning: "The call reached a replica of the class runtime manager that is not the leader. It had no effect.",
    remedy: "Repeat it over a new connection, as the package manager does; the message names the leader.",
  },
  OAAS_STOPPING: {
    meaning: "The call reached a process that is stopping. It had no effect.",
    remedy: "Repeat it over a new connection, which reaches another replica or the restarted process.",
  },
  OAAS_DEADLINE_EXCEEDED: {
    meaning: "The operation did not finish before its deadline.",
    remedy: "Retry; every call is idempotent. Raise the timeout if it happens repeatedly.",
  },
  OAAS_CANCELLED: {
    meaning: "The caller cancelled the operation.",
    remedy: "None; send the request again if you still need the result.",
  },
  OAAS_UNIMPLEMENTED: {
    meaning: "This version does not support the feature.",
    remedy: "Use the alternative named in the message, or a version that supports the feature.",
  },
  OAAS_PARTIAL_FAILURE: {
    meaning: "The operation failed in some parts and succeeded in others.",
    remedy: "Fix the cause reported for each failed part, then repeat the request.",
  },
  OAAS_ROLLOUT_FAILED: {
    meaning: "The deployment failed in every cluster that it was sent to.",
    remedy: "Fix the cause reported for each cluster, then repeat the request.",
  },
  OAAS_ROLLOUT_UNDONE: {
    meaning: "The roll-out failed in a cluster and was undone.",
    remedy: "Fix the cause reported for each cluster, then repeat the request.",
  },
  OAAS_DEPLOYMENT_HELD: {
    meaning: "A pause or a freeze window keeps the deployment from being changed.",
    remedy: "Wait until it ends, resume the deployment, or let an admin delete the freeze window.",
  },
  OAAS_DOCUMENTS_REJECTED: {
    meaning: "Documents of a set were rejected, so nothing of the set was applied.",
    remedy: "Fix the cause reported for each rejected document, then apply the whole set again.",
  },
  OAAS_INTERNAL: {
    meaning: "A programming error.",
    remedy: "Report it with the correlation id; the log lines with this id have the details.",
  },
  OAAS_CONFIG_INVALID: {
    meaning: "The configuration is invalid; the process did not start.",
    remedy: "Correct the variables named in the message.",
  },
  OAAS_STORE_NEWER_SCHEMA: {
    meaning: "The database file was written by a newer version.",
    remedy: "Run that version or a later one; the file is unchanged.",
  },
  OAAS_STORE_CORRUPT: {
    meaning: "The database file is damaged.",
    remedy: "Restore it from a backup; the damaged file is unchanged.",
  },
  OAAS_STORE_FULL: {
    meaning: "The disk or the quota of the store is full; the write was rejected and nothing changed.",
    remedy: "Free space (or, for etcd, compact, defragment and disarm the alarm), then retry.",
  },
  OAAS_STORE_IN_USE: {
    meaning: "Another process is using the database file.",
    remedy: "Stop the other process, or configure another data folder for this one.",
  },
  OAAS_STORE_COMPACTED: {
    meaning: "The requested revision is older than the retained history.",
    remedy: "List again and continue from the revision of that list.",
  },
  OAAS_STORE_VALUE_INVALID: {
    meaning: "This version cannot read a stored value.",
    remedy: "Run the version that wrote it, or migrate the value.",
  },
  OAAS_STORE_KEY_MISSING: {
    meaning: "A secret cannot be stored or read, because its encryption key is not configured.",
    remedy: "Add the key to STORAGE_ENCRYPTION_KEY_FILE; the stored value is unchanged.",
  },
  OAAS_LEASE_LOST: {
    meaning: "A lease expired or was revoked; another owner may hold the protected resource.",
    remedy: "Stop the protected work and acquire a new lease.",
  },
} as const satisfies Record<string, FaultCodeEntry>;

export type FaultCode = keyof typeof FAULT_CODES;
