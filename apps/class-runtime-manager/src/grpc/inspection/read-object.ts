import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetObjectRequest, GetObjectResponseSchema } from "@oaas/contracts/grpc";
import { Fault, invalidArgument, type Violation } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { StoredClass } from "../../classes/ports.ts";
import { maskObject } from "./mask-object.ts";

type ReadObject = MessageInitShape<typeof GetObjectResponseSchema>;

/** Finds the requested object among the children of a class. Throws not-found for every other object. */
export function readObject(
  object: StoredClass,
  request: Pick<GetObjectRequest, "kind" | "name" | "apiVersion">,
  childrenOf: (uid: string) => readonly KubeObject[],
): ReadObject {
  checkRequest(request);
  const found = findChild(object, request, childrenOf(object.metadata.uid));
  const { apiVersion, kind, metadata } = found;
  const { name = "", namespace = "" } = metadata;
  return { apiVersion, kind, name, namespace, object: JSON.stringify(maskObject(found)) };
}

function findChild(
  { metadata: { name: className } }: StoredClass,
  { kind, name, apiVersion }: Pick<GetObjectRequest, "kind" | "name" | "apiVersion">,
  children: readonly KubeObject[],
): KubeObject {
  const named = children.filter((child) => child.kind === kind && child.metadata.name === name);
  const [found, other] = hasText(apiVersion) ? named.filter((child) => child.apiVersion === apiVersion) : named;
  if (found === undefined) {
    const kinds = [...new Set(children.map((child) => child.kind))].toSorted().join(", ");
    const message = `${kind} "${name}" does not belong to the class runtime "${className}", which has objects of ${kinds || "no kind"}`;
    throw new Fault({ kind: "not-found", resource: kind, name }, message);
  }
  if (other === undefined) return found;
  const versions = named.map((child) => child.apiVersion).join(" or ");
  throw invalidArgument("the request", [
    { path: "$.api_version", message: `is needed: several kinds are called ${kind}`, fix: `use ${versions}` },
  ]);
}

function checkRequest({ kind, name }: Pick<GetObjectRequest, "kind" | "name">): void {
  const violations: Violation[] = Object.entries({ kind, name })
    .filter(([, value]) => value === "")
    .map(([field]) => ({ path: `$.${field}`, message: "is empty", fix: `send the ${field} of the object` }));
  if (violations.length > 0) throw invalidArgument("the request", violations);
}

function hasText(value: string | undefined): value is string {
  return value !== undefined && value !== "";
}
