import { type KubeObject, type LabelSelector, selectsLabels } from "@oaas/kube-core";
import type { Container, Pod, PodSpec } from "../objects/typed.ts";

/** Failures that can be injected. */
export type Failure =
  /** The image cannot be pulled: ErrImagePull, then ImagePullBackOff. */
  | { readonly kind: "image-pull"; readonly message?: string }
  /** The container exits repeatedly; `restarts` is the initial restart count. */
  | { readonly kind: "crash-loop"; readonly afterMs?: number; readonly exitCode?: number; readonly restarts?: number }
  /** It runs, but its readiness probe never succeeds. */
  | { readonly kind: "never-ready" }
  /** No node fits. */
  | { readonly kind: "unschedulable" }
  /** It takes this long to start. */
  | { readonly kind: "slow-start"; readonly delayMs: number }
  /** The namespace's quota is used up: the pod cannot be created. */
  | { readonly kind: "quota" };

export type FailureKind = Failure["kind"];

/** The pods of a failure: those that match all given criteria. A rule without criteria matches all. */
export interface FailureRule {
  readonly failure: Failure;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  /** The full image name; `*` is a wildcard: `*:missing`, `example.test/*`. */
  readonly image?: string;
}

/** Annotations on pods, pod templates and nodes that control the simulation. */
export const ANNOTATIONS = {
  /** On pods: `image-pull`, `crash-loop`, `never-ready`, `unschedulable`, `slow-start` or `quota`. */
  failure: "simulation.kube.local/failure",
  /** On pods: start duration in milliseconds. */
  startDelayMs: "simulation.kube.local/start-delay-ms",
  /** On nodes: `true` while its kubelet is unreachable. */
  lost: "simulation.kube.local/lost",
  /** On autoscalers: the current metric of each pod, as a number (utilization in percent, or the average value). */
  metric: "simulation.kube.local/metric",
  /** On autoscalers: the same summed over all pods, so that more pods mean less for each; `metric` takes precedence. */
  load: "simulation.kube.local/load",
} as const;

/** The same images fail here as with the KWOK stages of `real-components`. */
export const DEFAULT_FAILURES: readonly FailureRule[] = [
  { image: "*:missing", failure: { kind: "image-pull" } },
  { image: "*:crashing", failure: { kind: "crash-loop", restarts: 5 } },
];

const BY_ANNOTATION: Readonly<Record<string, Failure>> = {
  "image-pull": { kind: "image-pull" },
  "crash-loop": { kind: "crash-loop" },
  "never-ready": { kind: "never-ready" },
  unschedulable: { kind: "unschedulable" },
  "slow-start": { kind: "slow-start", delayMs: 60_000 },
  quota: { kind: "quota" },
};

/**
 * The failures of this pod, or of one container: the annotation first, then the rules in order; the first of a kind
 * wins.
 */
export function failuresOf(pod: PodLike, rules: readonly FailureRule[], container?: Container): readonly Failure[] {
  const images = container ? [container] : [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  const annotated = BY_ANNOTATION[pod.metadata.annotations?.[ANNOTATIONS.failure] ?? ""];
  const found = rules.filter((rule) => appliesTo(rule, pod, images)).map(({ failure }) => failure);
  return annotated === undefined ? found : [annotated, ...found];
}

export function failureOf<K extends FailureKind>(
  failures: readonly Failure[],
  kind: K,
): Extract<Failure, { kind: K }> | undefined {
  return failures.find((failure): failure is Extract<Failure, { kind: K }> => failure.kind === kind);
}

type PodLike = Pick<KubeObject, "metadata"> & { readonly spec?: PodSpec };

function appliesTo(rule: FailureRule, pod: PodLike, containers: readonly Container[]): boolean {
  const { namespace, selector, image } = rule;
  if (namespace !== undefined && namespace !== pod.metadata.namespace) return false;
  if (selector !== undefined && !selectsLabels(selector, pod.metadata.labels)) return false;
  return image === undefined || containers.some((container) => matchesImage(image, container.image ?? ""));
}

/** `*` is a wildcard. No regular expressions: the pattern may come from any client. */
export function matchesImage(pattern: string, image: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === image;
  const last = rest.pop() ?? "";
  if (!image.startsWith(first) || !image.endsWith(last) || image.length < first.length + last.length) return false;
  let from = first.length;
  const end = image.length - last.length;
  for (const part of rest) {
    const at = image.indexOf(part, from);
    if (at === -1 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/** The start duration of this pod: its annotation, a rule, or the default. */
export function startDelayOf(pod: Pod, failures: readonly Failure[], usualMs: number): number {
  const annotated = Number(pod.metadata.annotations?.[ANNOTATIONS.startDelayMs]);
  if (Number.isFinite(annotated) && annotated >= 0) return annotated;
  return failureOf(failures, "slow-start")?.delayMs ?? usualMs;
}
