import { addQuantities, controllerOf, parseQuantity, type Quantity, ZERO_QUANTITY } from "@oaas/kube-core";
import { conditionIn } from "./conditions.ts";
import { epochMs } from "./time.ts";
import type { Amounts, Container, Pod } from "./typed.ts";

export function isReady(pod: Pod): boolean {
  return conditionIn(pod.status?.conditions, "Ready")?.status === "True";
}

export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** Whether it still counts as a replica. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

/** When a ready pod counts as available: after `minReadySeconds`. Undefined while it is not ready. */
export function availableAtMs(pod: Pod, minReadySeconds: number): number | undefined {
  if (!isReady(pod)) return undefined;
  const since = epochMs(conditionIn(pod.status?.conditions, "Ready")?.lastTransitionTime);
  return minReadySeconds === 0 || since === undefined ? 0 : since + minReadySeconds * 1000;
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const at = availableAtMs(pod, minReadySeconds);
  return at !== undefined && at <= now;
}

/** The delay until the next of these pods becomes available. */
export function nextAvailableInMs(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const waits = pods
    .map((pod) => availableAtMs(pod, minReadySeconds))
    .filter((at) => at !== undefined && at > now)
    .map((at) => (at ?? now) - now);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

export function isControlledByKind(pod: Pod, kind: string): boolean {
  return controllerOf(pod)?.kind === kind;
}

export type Sums = Readonly<Record<string, Quantity>>;

/** The requests of a pod: the sum of its containers, or its largest init container if that is more. */
export function podRequests(pod: Pod): Sums {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  const sum = [...containers, ...sidecars].map(requestsOf).reduce(addSums, {});
  return initContainers
    .filter(({ restartPolicy }) => restartPolicy !== "Always")
    .map(requestsOf)
    .reduce(maxSums, sum);
}

export function podLimits(pod: Pod): Sums {
  return (pod.spec?.containers ?? []).map(({ resources }) => sumsOf(resources?.limits)).reduce(addSums, {});
}

function requestsOf({ resources }: Container): Sums {
  // The real server copies limits to missing requests.
  return { ...sumsOf(resources?.limits), ...sumsOf(resources?.requests) };
}

export function sumsOf(amounts: Amounts | undefined): Sums {
  return Object.fromEntries(Object.entries(amounts ?? {}).map(([name, amount]) => [name, quantity(amount)]));
}

/** A validated amount; anything else counts as zero. */
export function quantity(amount: string | number | undefined): Quantity {
  if (amount === undefined) return ZERO_QUANTITY;
  const parsed = parseQuantity(amount);
  return parsed.ok ? parsed.value : ZERO_QUANTITY;
}

export function addSums(a: Sums, b: Sums): Sums {
  const sum: Record<string, Quantity> = { ...a };
  for (const [name, amount] of Object.entries(b)) sum[name] = addQuantities(sum[name] ?? ZERO_QUANTITY, amount);
  return sum;
}

function maxSums(a: Sums, b: Sums): Sums {
  const maximum: Record<string, Quantity> = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    const other = maximum[name];
    if (other === undefined || other.nano < amount.nano) maximum[name] = amount;
  }
  return maximum;
}

/** `Guaranteed`, `Burstable` or `BestEffort`, by cpu and memory. */
export function qosClass(pod: Pod): string {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const amounts = containers.flatMap(({ resources }) => [
    ...Object.entries(resources?.requests ?? {}),
    ...Object.entries(resources?.limits ?? {}),
  ]);
  if (!amounts.some(([name]) => isCompute(name))) return "BestEffort";
  const isGuaranteed = containers.every(({ resources }) =>
    ["cpu", "memory"].every((name) => {
      const limit = resources?.limits?.[name];
      const request = resources?.requests?.[name] ?? limit;
      return limit !== undefined && quantity(limit).nano === quantity(request).nano;
    }),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function isCompute(name: string): boolean {
  return name === "cpu" || name === "memory";
}
