import {
  AUDIT_VERSION,
  CHAIN_START,
  sealAuditEntry,
  type AuditActor,
  type AuditEntry,
  type Role,
} from "@oaas/contracts/rest";
import { Fault, timestamp, type Ambient } from "@oaas/foundation";
import { sha256Hex } from "@oaas/foundation/hash";
import type { AuditQueue } from "./audit-queue.ts";
import type { Caller } from "./caller.ts";

/** A change that a caller requests. */
export interface AuditedAttempt {
  readonly actor: AuditActor;
  readonly action: string;
  readonly target: string;
  readonly correlationId: string;
}

/** How an attempt ended. */
export interface AuditResult {
  /** HTTP status of the response. */
  readonly status: number;
  readonly reason?: string | undefined;
  /** Instead of the target of the attempt, once it is known. */
  readonly target?: string | undefined;
}

/** Keeps audit entries by the id of their attempt; a later entry replaces the earlier one. */
export interface AuditRecords {
  /** Resolves when the entry is durable. */
  put(key: string, entry: AuditEntry): Promise<void>;
  /** Throws unavailable when too many entries wait. */
  assertSpace(): void;
  /** Stores the entry in a moment. */
  putLater(key: string, entry: AuditEntry): void;
}

export interface AuditTrailOptions {
  readonly queue: AuditQueue;
  readonly records: AuditRecords;
  readonly ambient: Ambient;
  /** The name of this process in its chain. */
  readonly instance: string;
}

/** Longer texts are cut, so that a line fits into one atomic write to a pipe. */
const MAX_TEXT = 1024;

/**
 * The audit trail: a line for the start and for the end of each attempted change, chained by hashes, in the sink and in the store.
 *
 * ```
 *   begin ─▶ line "started" ─▶ stored ─▶ the change ─▶ end ─▶ line with the outcome ─▶ stored with the next change
 *   refuse ─▶ line with the outcome, for an attempt that changed nothing
 * ```
 *
 * *Guarantees*: an attempt is durable in the store before its change is made. While the sink or the store accepts no entries, changes
 * are refused with 503. Attempts without valid credentials are only counted (`omitted`) while the sink is slow, and are not stored,
 * so that they displace nothing.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  #attempts = 0;
  #seq = 0;
  #prev = CHAIN_START;
  #omitted = 0;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** Records that a change starts. Throws unavailable when that is not possible; then the change must not be made. */
  async begin(attempt: AuditedAttempt): Promise<(result: AuditResult) => void> {
    const { queue, records } = this.#options;
    await queue.waitForSpace();
    records.assertSpace();
    const { id, key } = this.#newAttempt();
    const end = (result: AuditResult): void =>
      records.putLater(key, this.#write(id, { ...attempt, target: result.target ?? attempt.target }, result));
    try {
      await records.put(key, this.#write(id, attempt, undefined));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      this.#write(id, attempt, { status: 503, reason: fault.message });
      throw fault;
    }
    return end;
  }

  /** Records an attempt that changed nothing. Throws unavailable when that is not possible. */
  async refuse(attempt: AuditedAttempt, result: AuditResult): Promise<void> {
    const { queue, records } = this.#options;
    const { id, key } = this.#newAttempt();
    // Anyone can make these in any number.
    if (result.status === 401 || result.status === 429) {
      if (queue.isBusy) this.#omitted += 1;
      else this.#write(id, attempt, result);
      return;
    }
    await queue.waitForSpace();
    records.assertSpace();
    records.putLater(key, this.#write(id, attempt, result));
  }

  /** The key sorts newer attempts first. */
  #newAttempt(): { readonly id: string; readonly key: string } {
    const { ambient, instance } = this.#options;
    this.#attempts += 1;
    const id = `${instance}-${this.#attempts}`;
    return { id, key: `${newestFirst(ambient.clock.now())}-${instance}-${newestFirst(this.#attempts)}` };
  }

  #write(id: string, attempt: AuditedAttempt, result: AuditResult | undefined): AuditEntry {
    const { ambient, instance, queue } = this.#options;
    this.#seq += 1;
    const entry = sealAuditEntry(
      {
        v: AUDIT_VERSION,
        time: timestamp(ambient.clock.now()),
        instance,
        seq: this.#seq,
        id,
        actor: attempt.actor,
        action: attempt.action,
        target: shortened(attempt.target),
        outcome: outcomeOf(result?.status),
        status: result?.status ?? null,
        reason: result?.reason === undefined ? null : shortened(result.reason),
        correlation_id: shortened(attempt.correlationId),
        omitted: this.#omitted,
        prev: this.#prev,
      },
      sha256Hex,
    );
    this.#prev = entry.hash;
    this.#omitted = 0;
    queue.push(entry);
    return entry;
  }
}

const KEY_DIGITS = 15;

/** A number as text that sorts larger numbers first. */
export function newestFirst(value: number): string {
  return String(10 ** KEY_DIGITS - 1 - value).padStart(KEY_DIGITS, "0");
}

/** The actor of a caller at an address. */
export function actorOf({ name, role, oidc }: Caller, address: string): AuditActor {
  return { subject: oidc?.subject ?? name, name, issuer: oidc?.issuer ?? null, role: role satisfies Role, address };
}

function outcomeOf(status: number | undefined): AuditEntry["outcome"] {
  if (status === undefined) return "started";
  if (status < 400) return "succeeded";
  return status < 500 ? "refused" : "failed";
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}
