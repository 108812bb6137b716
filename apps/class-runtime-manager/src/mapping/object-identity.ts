import { violationsUnder, type Violation } from "@oaas/foundation";
import { checkName, safeName } from "@oaas/kube-core";

/** Label with the id of the unit. */
export const DEPLOYMENT_ID_LABEL = "oaas.io/deployment-id";

/** Annotations of a class runtime. */
export const ANNOTATIONS = {
  /** Correlation id of the last change. */
  correlationId: "oaas.io/correlation-id",
  /** W3C trace context of the last change. */
  traceparent: "oaas.io/traceparent",
  /** Requested enforcement mode. */
  enforcement: "oaas.io/enforcement",
  /** Enforcement changes nothing before this time, RFC 3339. */
  enforcementPausedUntil: "oaas.io/enforcement-paused-until",
  /** `allowed`: pods may restart for new CPU and memory requests. */
  enforcementRestarts: "oaas.io/enforcement-restarts",
  /** Template hint. */
  templateHint: "oaas.io/template-hint",
  /** Profile of the class runtime manager that accepted the unit. */
  profile: "oaas.io/profile",
} as const;

/**
 * The object name of a unit. A DNS label is used unchanged, as in the Rust manager; other ids are converted (lower
 * case, `-` for other characters) and get a hash, so that `My.App` and `my-app` are different objects.
 */
export function objectName(deploymentId: string): string {
  return safeName([deploymentId]);
}

/** The object name that the Rust manager used, to take over its objects. */
export function upstreamObjectName(deploymentId: string): string {
  return deploymentId
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/^-+|(?<!-)-+$/g, "");
}

/** Checks the id of a unit, which must be a valid label value. */
export function checkDeploymentId(id: string, path: string): Violation[] {
  if (id === "") return [{ path, message: "is empty", fix: "set an id that stays the same across retries" }];
  return violationsUnder(path, checkName("label-value", id));
}

type Texts = Readonly<Record<string, string>> | undefined;

interface Identified {
  readonly metadata: { readonly name: string; readonly labels?: Texts; readonly annotations?: Texts };
  readonly spec?: { readonly origin?: { readonly deployment_id?: string | undefined } | undefined };
}

function entry(texts: Texts, key: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

/** The unit id of an object: from its origin, else its label, else its name. */
export function deploymentIdOf(object: Identified): string {
  return (
    object.spec?.origin?.deployment_id ?? entry(object.metadata.labels, DEPLOYMENT_ID_LABEL) ?? object.metadata.name
  );
}

/**
 * Whether the object belongs to the unit. The Rust manager stored only the converted id, in the label, so that an
 * object without an origin also matches by its converted id.
 */
export function isObjectOf(object: Identified, deploymentId: string): boolean {
  const origin = object.spec?.origin?.deployment_id;
  if (origin !== undefined) return origin === deploymentId;
  const label = entry(object.metadata.labels, DEPLOYMENT_ID_LABEL);
  return label === deploymentId || (label !== undefined && label === upstreamObjectName(deploymentId));
}

export function correlationIdOf(object: Pick<Identified, "metadata">): string | undefined {
  return entry(object.metadata.annotations, ANNOTATIONS.correlationId);
}
