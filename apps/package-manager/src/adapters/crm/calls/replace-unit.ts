import type { DeploymentUnit } from "@oaas/contracts/grpc";
import { backoffDelay, sleep, type Ambient, type BackoffPolicy } from "@oaas/foundation";

/** What is needed of a peer whose Deploy only creates, as the Rust manager's does. */
export interface CreateOnlyPeer {
  create(unit: DeploymentUnit): Promise<void>;
  exists(unitId: string): Promise<boolean>;
  remove(unitId: string): Promise<void>;
}

/** Which digest each unit was last created with; bounded, the oldest is forgotten first. */
export class SentDigests {
  readonly #most: number;
  readonly #digests = new Map<string, string>();

  constructor(most = 10_000) {
    this.#most = most;
  }

  get(unitId: string): string | undefined {
    return this.#digests.get(unitId);
  }

  set(unitId: string, digest: string): void {
    this.#digests.delete(unitId);
    this.#digests.set(unitId, digest);
    if (this.#digests.size <= this.#most) return;
    const [oldest] = this.#digests.keys();
    if (oldest !== undefined) this.#digests.delete(oldest);
  }

  delete(unitId: string): void {
    this.#digests.delete(unitId);
  }
}

const LOOK_AGAIN: BackoffPolicy = { baseMs: 50, capMs: 1_000, factor: 2, jitter: 0.2 };

/**
 * Makes a unit be as sent where Deploy only creates: what is there in another form is deleted, awaited gone, and created again.
 *
 * *Caveats*: the peer tells nothing of what it runs. A unit that this process did not create is taken to be right when it is of the first
 * revision and replaced otherwise: one needless replacement after a restart is better than an old class for ever.
 */
export async function replaceUnit(
  unit: DeploymentUnit,
  calls: CreateOnlyPeer,
  deps: { readonly sent: SentDigests; readonly ambient: Ambient; readonly signal: AbortSignal },
): Promise<void> {
  const { sent, ambient, signal } = deps;
  const digest = unit.digest ?? "";
  const known = sent.get(unit.id);
  const mayDiffer = known === undefined ? (unit.revision ?? 1n) > 1n : known !== digest;
  if (mayDiffer && (await calls.exists(unit.id))) {
    sent.delete(unit.id);
    await calls.remove(unit.id);
    for (let look = 0; await calls.exists(unit.id); look += 1) {
      await sleep(ambient.timers, backoffDelay(LOOK_AGAIN, look, ambient.random), signal);
    }
  }
  await calls.create(unit);
  sent.set(unit.id, digest);
}
