/** What a stable code means and what its reader can do. `docs/reference/errors.md` is made from this list. */
export interface FaultCodeEntry {
  readonly meaning: string;
  readonly remedy: string;
}

/** Every code a fault may carry. The general code of a kind is the kind itself; the others are more specific. */
export const FAULT_CODES = {
  OAAS_INVALID_ARGUMENT: {
    meaning: "The input breaks a rule. Each violation names its field.",
    remedy: "Correct the named fields and send the request again.",
  },
  OAAS_UNAUTHENTICATED: {
    meaning: "The caller did not prove who it is.",
    remedy: "Send a valid bearer token or client certificate.",
  },
  OAAS_PERMISSION_DENIED: {
    meaning: "The caller is known but may not do this.",
    remedy: "Use an identity whose role allows the action, or ask for that role.",
  },
  OAAS_NOT_FOUND: {
    meaning: "The named thing does not exist.",
    remedy: "Check the name; list what exists.",
  },
  OAAS_ALREADY_EXISTS: {
    meaning: "The name is taken by something else.",
    remedy: "Choose another name, or update what exists.",
  },
  OAAS_CONFLICT: {
    meaning: "Someone else changed the thing in between.",
    remedy: "Read it again, apply the change to the new version, and retry.",
  },
  OAAS_VERSION_MISMATCH: {
    meaning: "The thing is no longer the version that the request named.",
    remedy: "Read it again, apply the change to the new version, and send its ETag in If-Match.",
  },
  OAAS_REQUEST_RUNNING: {
    meaning: "A request with this idempotency key is being carried out.",
    remedy: "Send the same request with the same key again after Retry-After: it gets the answer of the first.",
  },
  OAAS_FAILED_PRECONDITION: {
    meaning: "The request is well formed but the system's state forbids it.",
    remedy: "The message says which state; change that first.",
  },
  OAAS_RESOURCE_EXHAUSTED: {
    meaning: "A limit was reached.",
    remedy: "Wait and retry, or raise the limit that the message names.",
  },
  OAAS_UNAVAILABLE: {
    meaning: "Something this depends on cannot be reached.",
    remedy: "Retry with backoff; check the dependency that the message names.",
  },
  OAAS_DEADLINE_EXCEEDED: {
    meaning: "The work was not done in the time allowed.",
    remedy: "Retry; every call is idempotent. Allow more time if it keeps happening.",
  },
  OAAS_CANCELLED: {
    meaning: "The caller gave up.",
    remedy: "Nothing to do; send the request again if the result is still wanted.",
  },
  OAAS_UNIMPLEMENTED: {
    meaning: "This build does not offer the feature.",
    remedy: "Use another way that the message names, or a version that has it.",
  },
  OAAS_PARTIAL_FAILURE: {
    meaning: "The work succeeded in some parts and failed in others.",
    remedy: "Each part says why it failed; deal with those, then repeat the request.",
  },
  OAAS_INTERNAL: {
    meaning: "A mistake of ours.",
    remedy: "Report it with the correlation id; the log of that id has the details.",
  },
  OAAS_CONFIG_INVALID: {
    meaning: "The configuration has mistakes; the process did not start.",
    remedy: "Correct every variable that the message names.",
  },
  OAAS_STORE_NEWER_SCHEMA: {
    meaning: "The database file was written by a newer version.",
    remedy: "Run that version or a later one; the file was not touched.",
  },
  OAAS_STORE_CORRUPT: {
    meaning: "The database file is damaged.",
    remedy: "Restore it from a backup; the damaged file was left as it is.",
  },
  OAAS_STORE_FULL: {
    meaning: "The disk or the quota of the store is full; the write was refused and nothing was changed.",
    remedy: "Free space (or, for etcd, compact, defragment and disarm the alarm), then retry.",
  },
  OAAS_STORE_IN_USE: {
    meaning: "Another process has the database file open.",
    remedy: "Stop the other process, or give this one another data folder.",
  },
  OAAS_STORE_COMPACTED: {
    meaning: "The revision asked for is older than the history kept.",
    remedy: "List again and continue from the revision of that list.",
  },
  OAAS_STORE_VALUE_INVALID: {
    meaning: "A stored value cannot be read by this version.",
    remedy: "Run the version that wrote it, or migrate the value.",
  },
  OAAS_LEASE_LOST: {
    meaning: "A lease ran out or was revoked; whatever it protected may belong to another owner now.",
    remedy: "Stop the protected work and acquire a new lease.",
  },
} as const satisfies Record<string, FaultCodeEntry>;

export type FaultCode = keyof typeof FAULT_CODES;
