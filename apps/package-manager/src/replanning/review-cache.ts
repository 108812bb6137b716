import { sha256Hex } from "@oaas/foundation/hash";
import { estimateAvailability, type DeploymentKey } from "@oaas/models";
import type { ClusterEntry, HealthReading } from "../ports.ts";
import type { Reviewed } from "./review-deployment.ts";

/** Remembers which deployments were reviewed with which inputs, so that an unchanged one costs nothing. */
export class ReviewCache {
  readonly #reviewed = new Map<DeploymentKey, { readonly inputs: string; readonly dueAtMs: number }>();

  /** Whether a deployment must be reviewed: its inputs changed, or its time has come. */
  isDue(key: DeploymentKey, inputs: string, nowMs: number): boolean {
    const last = this.#reviewed.get(key);
    return last === undefined || last.inputs !== inputs || last.dueAtMs <= nowMs;
  }

  put(key: DeploymentKey, inputs: string, { result, dueAtMs = Number.POSITIVE_INFINITY }: Reviewed): void {
    if (result === "applied") this.#reviewed.delete(key);
    else this.#reviewed.set(key, { inputs, dueAtMs });
  }

  /** Keeps only these deployments. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#reviewed.keys()) if (!keys.has(key)) this.#reviewed.delete(key);
  }

  clear(): void {
    this.#reviewed.clear();
  }

  /** When the next deployment is due although nothing changed. */
  get nextAtMs(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAtMs } of this.#reviewed.values()) next = Math.min(next, dueAtMs);
    return next;
  }
}

/** Digits of the downtime of a cluster that count as a change: its measurement moves a little with every check. */
const DIGITS = 2;

/** A digest of the facts about clusters that plans depend on, in the precision in which a change matters. */
export function fingerprintOf(readings: readonly HealthReading[], entries: readonly ClusterEntry[]): string {
  const priors = new Map(entries.map(({ name, availability }) => [name, availability]));
  const facts = readings.map(({ cluster, health, error, breaker }) => {
    const { lastSeen: _lastSeen, availability: _availability, measurement: _measurement, ...rest } = health;
    const estimate = estimateAvailability(health, priors.get(cluster));
    return [rest, estimate && (1 - estimate.value).toPrecision(DIGITS), error !== undefined, breaker];
  });
  return sha256Hex(JSON.stringify([facts, entries.map(({ url: _url, ...entry }) => entry)]));
}
