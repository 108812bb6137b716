import type { DeploymentUnit } from "@oaas/contracts/grpc";
import { backoffDelay, sleep, type Ambient } from "@oaas/foundation";
import { BACKOFF } from "../../../backoff-policies.ts";

/** The calls to a peer whose Deploy only creates, such as the Rust manager. */
export interface CreateOnlyPeer {
  create(unit: DeploymentUnit): Promise<void>;
  exists(unitId: string): Promise<boolean>;
  remove(unitId: string): Promise<void>;
}

/** The digest with which each unit was last created. Bounded: the oldest entry is evicted first. */
export class SentDigests {
  readonly #capacity: number;
  readonly #digests = new Map<string, string>();

  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  get(unitId: string): string | undefined {
    return this.#digests.get(unitId);
  }

  set(unitId: string, digest: string): void {
    this.#digests.delete(unitId);
    this.#digests.set(unitId, digest);
    if (this.#digests.size <= this.#capacity) return;
    const [oldest] = this.#digests.keys();
    if (oldest !== undefined) this.#digests.delete(oldest);
  }

  delete(unitId: string): void {
    this.#digests.delete(unitId);
  }
}

/**
 * Updates a unit on a peer whose Deploy only creates: deletes a different unit, waits until it is gone, creates the new one.
 *
 * *Caveats*: the peer does not report its digest. A unit that this process did not create is kept if it has the first
 * revision, and replaced otherwise: a needless replacement after a restart is better than an outdated class.
 */
export async function replaceUnit(
  unit: DeploymentUnit,
  peer: CreateOnlyPeer,
  deps: { readonly sent: SentDigests; readonly ambient: Ambient; readonly signal: AbortSignal },
): Promise<void> {
  const { sent, ambient, signal } = deps;
  const digest = unit.digest ?? "";
  const known = sent.get(unit.id);
  const mayDiffer = known === undefined ? (unit.revision ?? 1n) > 1n : known !== digest;
  if (mayDiffer && (await peer.exists(unit.id))) {
    sent.delete(unit.id);
    await peer.remove(unit.id);
    for (let poll = 0; await peer.exists(unit.id); poll += 1) {
      await sleep(ambient.timers, backoffDelay(BACKOFF.unitDeletion, poll, ambient.random), signal);
    }
  }
  await peer.create(unit);
  sent.set(unit.id, digest);
}
