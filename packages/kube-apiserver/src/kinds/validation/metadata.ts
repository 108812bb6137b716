import { type JsonObject, parseApiVersion } from "@oaas/kube-core";
import { isSet, numberAt, objectAt, objectsAt, textAt, textEntries, textsAt } from "../json-access.ts";
import { invalid, invalidFor, NOT_NEGATIVE, required, tooLong, type Errors } from "./field-errors.ts";
import { dnsSubdomain, labelValue, qualifiedName, type NameRule } from "./names.ts";

const MOST_ANNOTATION_BYTES = 256 * 1024;
const OWN_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Options of metadata validation. */
export interface MetadataRules {
  readonly name?: NameRule;
  /** Whether finalizers without a domain are rejected, as for core kinds. */
  readonly isCore?: boolean;
}

/** Violations of an object's metadata, with the real server's messages. */
export function validateMetadata(object: JsonObject, rules: MetadataRules = {}): Errors {
  const metadata = objectAt(object, "metadata");
  const finalizers = textsAt(metadata, "finalizers");
  return [
    ...validateName(metadata, rules.name ?? dnsSubdomain),
    ...((numberAt(metadata, "generation") ?? 0) < 0
      ? [invalid("metadata.generation", numberAt(metadata, "generation"), NOT_NEGATIVE)]
      : []),
    ...validateLabels(metadata, "metadata.labels"),
    ...validateAnnotations(metadata, "metadata.annotations"),
    ...validateOwner(objectsAt(metadata, "ownerReferences")),
    ...finalizers.flatMap((name) => invalidFor("metadata.finalizers", name, qualifiedName(name))),
    ...(rules.isCore === true ? unqualifiedFinalizers(finalizers, "metadata.finalizers") : []),
    ...(finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")
      ? [invalid("metadata.finalizers", finalizers, "finalizer orphan and foregroundDeletion cannot be both set")]
      : []),
  ];
}

function validateName(metadata: JsonObject, rule: NameRule): Errors {
  const [name, prefix] = [textAt(metadata, "name"), textAt(metadata, "generateName")];
  return [
    ...(prefix === "" ? [] : invalidFor("metadata.generateName", prefix, rule(prefix, true))),
    ...(name === ""
      ? [required("metadata.name", "name or generateName is required")]
      : invalidFor("metadata.name", name, rule(name, false))),
  ];
}

/** Labels: keys and values. */
export function validateLabels(holder: JsonObject, field: string): Errors {
  return textEntries(holder, field.slice(field.lastIndexOf(".") + 1)).flatMap(([key, value]) => [
    ...invalidFor(field, key, qualifiedName(key)),
    ...invalidFor(field, value, labelValue(value)),
  ]);
}

/** Annotations: keys in any case, and their total size. */
export function validateAnnotations(holder: JsonObject, field: string): Errors {
  const entries = textEntries(holder, "annotations");
  const size = entries.reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...entries.flatMap(([key]) => invalidFor(field, key, qualifiedName(key.toLowerCase()))),
    ...(size > MOST_ANNOTATION_BYTES ? [tooLong(field, MOST_ANNOTATION_BYTES)] : []),
  ];
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function unqualifiedFinalizers(finalizers: readonly string[], field: string): Errors {
  return finalizers.flatMap((name, index) =>
    name.includes("/") || OWN_FINALIZERS.has(name)
      ? []
      : [invalid(`${field}[${index}]`, name, "name is neither a standard finalizer name nor is it fully qualified")],
  );
}

function validateOwner(owners: readonly JsonObject[]): Errors {
  const field = "metadata.ownerReferences";
  const controllers = owners.filter((owner) => isSet(owner, "controller"));
  const [first, second] = controllers.map((owner) => `${textAt(owner, "kind")}/${textAt(owner, "name")}`);
  return [
    ...owners.flatMap((owner) => [
      ...requireFields(owner, field),
      ...(textAt(owner, "apiVersion") === "v1" && textAt(owner, "kind") === "Event"
        ? [invalid(field, goOrder(owner), "/v1, Kind=Event is disallowed from being an owner")]
        : []),
    ]),
    ...(second === undefined
      ? []
      : [
          invalid(
            field,
            owners.map(goOrder),
            `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`,
          ),
        ]),
  ];
}

function requireFields(owner: JsonObject, field: string): Errors {
  const apiVersion = textAt(owner, "apiVersion");
  return [
    ...(!parseApiVersion(apiVersion).ok
      ? [invalid(`${field}.apiVersion`, apiVersion, "version must not be empty")]
      : []),
    ...["kind", "name", "uid"]
      .filter((name) => textAt(owner, name) === "")
      .map((name) => invalid(`${field}.${name}`, "", "must not be empty")),
  ];
}

/** An owner reference as Go prints it. */
function goOrder(owner: JsonObject): JsonObject {
  const order = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
  return Object.fromEntries(
    order.filter((name) => Object.hasOwn(owner, name)).map((name) => [name, owner[name] ?? null]),
  );
}
