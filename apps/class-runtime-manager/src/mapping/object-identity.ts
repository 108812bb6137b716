import { violationsUnder, type Violation } from "@oaas/foundation";
import { checkName, safeName } from "@oaas/kube-core";

/** The id of the unit an object was made for, to find it by. */
export const DEPLOYMENT_ID_LABEL = "oaas.io/deployment-id";

/** Annotations of a class runtime. */
export const ANNOTATIONS = {
  /** Of the call that last changed it. */
  correlationId: "oaas.io/correlation-id",
  /** The enforcement mode that was asked for. */
  enforcement: "oaas.io/enforcement",
  /** The template that was wished for. */
  templateHint: "oaas.io/template-hint",
  /** The profile of the manager that accepted it. */
  profile: "oaas.io/profile",
} as const;

/**
 * The name of the object for a unit. An id that is a DNS label is the name, as the Rust manager had it; any other is
 * changed as there (lower case, `-` for the rest) and gets a hash, so that `My.App` and `my-app` are two objects.
 */
export function objectName(deploymentId: string): string {
  return safeName([deploymentId]);
}

/** The name the Rust manager gave to the object of a unit, for taking over its objects. */
export function upstreamObjectName(deploymentId: string): string {
  return deploymentId
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replaceAll(/^-+|-+$/g, "");
}

/** What is wrong with the id of a unit. It becomes a label as it is, so it keeps the rules of a label's value. */
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

/** The id by which the unit of an object is known: as it was sent, else the label, else the object's name. */
export function deploymentIdOf(object: Identified): string {
  return (
    object.spec?.origin?.deployment_id ?? entry(object.metadata.labels, DEPLOYMENT_ID_LABEL) ?? object.metadata.name
  );
}

/**
 * Whether the object is the one of this unit. The Rust manager wrote the changed id into the label and the raw one
 * nowhere, so that an object without an origin is also known by its changed id.
 */
export function isObjectOf(object: Identified, deploymentId: string): boolean {
  const origin = object.spec?.origin?.deployment_id;
  if (origin !== undefined) return origin === deploymentId;
  const label = entry(object.metadata.labels, DEPLOYMENT_ID_LABEL);
  return label === deploymentId || (label !== undefined && label === upstreamObjectName(deploymentId));
}

/** The correlation id of the call that last changed the object. */
export function correlationIdOf(object: Pick<Identified, "metadata">): string | undefined {
  return entry(object.metadata.annotations, ANNOTATIONS.correlationId);
}
