import { refOf } from "@oaas/kube-core";
import { finding, type Finding } from "./finding.ts";
import type { ObservedEvent } from "../observation/observed-event.ts";
import type { ContainerStatus, Pod } from "../observation/observed-objects.ts";
import type { Verdict } from "../observation/reasons.ts";

const PULL_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);

interface PullFailure {
  readonly words: string;
  readonly verdict: Verdict;
  /** The failure in a sentence with the image. */
  readonly plain: (image: string) => string;
  /** Replaces the default action of the reason. */
  readonly action?: string;
}

const FIX_IMAGE = "Fix the name or tag of the image and apply again.";

/**
 * Messages of kubelets and runtimes, normalized: a kubelet reports another text while it backs off, and the status must
 * not change each time. Only registry outages and rate limits are transient.
 */
const PULL_FAILURES: readonly (readonly [pattern: RegExp, failure: PullFailure])[] = [
  [
    /InvalidImageName|invalid reference/i,
    {
      words: "invalid image name",
      verdict: "permanent",
      plain: (image) => `the name of ${image} is invalid`,
      action: FIX_IMAGE,
    },
  ],
  [
    /unauthorized|denied|authentication required|forbidden/i,
    {
      words: "the registry denied access",
      verdict: "permanent",
      plain: (image) => `the registry denies access to ${image}`,
      action: "Give the cluster a pull secret for the registry, or fix the name of the image and apply again.",
    },
  ],
  [
    /no such host|i\/o timeout|connection (refused|reset)|TLS handshake|\bEOF\b|\b50[0234]\b|deadline exceeded/i,
    {
      words: "the registry is unreachable",
      verdict: "transient",
      plain: (image) => `the registry of ${image} does not respond`,
      action: "Wait until the registry responds, or check its name.",
    },
  ],
  [
    /too many requests|\b429\b/i,
    {
      words: "the registry limits pulls",
      verdict: "transient",
      plain: (image) => `the registry limits pulls of ${image}`,
      action: "Wait until the registry allows pulls again.",
    },
  ],
  [
    /not found|manifest unknown|does not exist/i,
    {
      words: "image not found",
      verdict: "permanent",
      plain: (image) => `the registry has no ${image}`,
      action: FIX_IMAGE,
    },
  ],
  [
    /ErrImageNeverPull/,
    {
      words: "image not on the node, and the pull policy is Never",
      verdict: "permanent",
      plain: (image) => `${image} is not on the node, and the pull policy is Never`,
    },
  ],
];

const UNKNOWN_FAILURE: PullFailure = {
  words: "pull failed",
  verdict: "permanent",
  plain: (image) => `${image} cannot be pulled`,
};

/** Why an image of a container cannot be pulled; undefined if it can. */
export function findPullFailure(
  pod: Pod,
  container: ContainerStatus,
  events: readonly ObservedEvent[],
): Finding | undefined {
  const waiting = container.state?.waiting;
  if (waiting?.reason === undefined || !PULL_REASONS.has(waiting.reason)) return undefined;
  const related = events.filter(
    ({ reason, warning }) => warning && (reason === "Failed" || reason === "InspectFailed"),
  );
  // During back-off only the event has the reason of the failure.
  const cause = related.find(
    ({ message }) => /pull|image/i.test(message) && !/Error: (ErrImagePull|ImagePullBackOff)$/.test(message),
  );
  const text = `${waiting.reason} ${waiting.message ?? ""} ${cause?.message ?? ""}`;
  const failure = PULL_FAILURES.find(([pattern]) => pattern.test(text))?.[1] ?? UNKNOWN_FAILURE;
  const { words, verdict, plain, action } = failure;
  const image = container.image === undefined || container.image === "" ? "image" : `image ${container.image}`;
  return finding("ImagePull", refOf(pod), `cannot pull ${image} for container ${container.name}: ${words}`, {
    verdict,
    plain: plain(image),
    action,
    ...(cause === undefined ? {} : { count: cause.count }),
    events: related,
  });
}
