import type { Result } from "@oaas/foundation";
import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { FieldError } from "../schema/field-error.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";

/**
 * What the server knows of a kind. Built-in kinds are data made from the real server plus the little that only code can
 * say; kinds of CustomResourceDefinitions are made from the definition. The verbs know nothing else: there is no second path.
 */
export interface Kind {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  /** The plural, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  /** As discovery tells it: create, delete, deletecollection, get, list, patch, update, watch, or fewer. */
  readonly verbs: readonly string[];
  /** In the order discovery lists them. */
  readonly versions: readonly KindVersion[];
  /** Objects are kept in this version; between versions `rules.converted` translates. */
  readonly storageVersion: string;
  /** As discovery shows it to clients that watch for a change of the storage. */
  readonly storageVersionHash?: string;
  /** Another kind whose objects these are, in another dress: events of `events.k8s.io` are those of the core. `rules.converted` changes the dress. */
  readonly sameObjectsAs?: { readonly group: string; readonly resource: string };
  /** Objects are questions (reviews): answered at create (access/), never kept. */
  readonly isQuestion?: boolean;
  readonly rules: KindRules;
}

export interface KindVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly schema: StructuralSchema;
  /** Whether there is `/status`, which alone writes `status`, while the main path leaves it alone. */
  readonly hasStatus: boolean;
  readonly scale?: ScalePaths;
  /** Every subresource that discovery names, status and scale too; for kinds of definitions it follows from the two above. */
  readonly subresources?: readonly KindSubresource[];
  /** What can be field-selected besides metadata.name and metadata.namespace, as selectors write it: `spec.nodeName`. */
  readonly selectableFields: readonly string[];
  readonly columns: readonly Column[];
  readonly deprecationWarning?: string;
  /** For kinds of definitions: unknown fields are pruned by schema. Built-in kinds drop them while decoding: the same effect. */
  readonly preservesUnknownFields?: boolean;
}

/** A subresource as discovery tells of it. */
export interface KindSubresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** Where a kind keeps what `/scale` reads and writes; dotted paths as definitions have them. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** A text, or (built-in kinds) a selector, which `/scale` shows as text. */
  readonly labelSelector?: string;
}

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, more only with `-o wide`. */
  readonly priority: number;
  /** The cell; `now` for ages. */
  cell(object: JsonObject, now: number): JsonValue;
}

/** What only code can say of a kind. Every member has a neutral default (`rulesOf({})`), which is that of kinds of definitions. */
export interface KindRules {
  /** Whether `metadata.generation` counts changes (the real server does not for all kinds). */
  readonly countsGenerations: boolean;
  /** Which changes it counts; neutral: of everything but metadata and status. */
  startsGeneration(next: JsonObject, live: JsonObject): boolean;
  /**
   * How a body is read. Built-in kinds are read as Go does it: a wrong type refuses the whole body with these words (400), unknown fields, nulls,
   * empty lists and zeros vanish, quantities are written canonically. Kinds of definitions: as it is.
   */
  decoded(object: JsonObject): Result<JsonObject, string>;
  /** Whether objects are validated by their schema. Built-in kinds are not: what the real server's code says is in `errors`. */
  readonly isValidatedBySchema: boolean;
  /** The object in another version, or dress, of its kind. */
  converted(object: JsonObject, apiVersion: string): JsonObject;
  /** A stored object as it is read today: a definition may have changed since it was written. Neutral: as it is. */
  readBack(object: JsonObject): JsonObject;
  /** The text that a field selector compares; neutral: the value at the path, empty when there is none. */
  selectableText(object: JsonObject, field: string): string;
  /** Fills in what schemas' defaults do not say: runs after them on each write and on what is read in a fresh object. */
  defaulted(object: JsonObject): JsonObject;
  /** What a new object looks like before validation: sets back what clients may not set, fills in what the server allots. */
  prepareCreate(object: JsonObject, circumstances: Circumstances): JsonObject;
  /** The same for an update of the main path. Status and metadata are taken care of before. */
  prepareUpdate(next: JsonObject, live: JsonObject, circumstances: Circumstances): JsonObject;
  /** The same for a write of the status. */
  prepareStatus(next: JsonObject, live: JsonObject): JsonObject;
  /** Why an admission plugin refuses a new object, before it is validated: 403, `pods "a" is forbidden: …`. */
  refused(object: JsonObject, circumstances: Circumstances): string | undefined;
  /** Metadata, and all beyond the schema: every error, in the real server's words where a case of the conformance list says so. */
  errors(object: JsonObject, live?: JsonObject): readonly FieldError[];
  /** What is allowed but odd, told to who makes an object or starts a generation of it. */
  warnings(object: JsonObject, isNew: boolean): readonly string[];
  /** What a write of the status does wrong besides. */
  statusErrors(next: JsonObject, live: JsonObject): readonly FieldError[];
  /** What may not change. */
  updateErrors(next: JsonObject, live: JsonObject): readonly FieldError[];
  /** Whether an update may leave out the version it is based on; kinds of definitions insist on one. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether an update of what is not there makes it (leases, roles, services). */
  readonly createsOnUpdate: boolean;
  /** Whether a deletion is answered with the object that is gone, and not with a status. */
  readonly answersDeletedObject: boolean;
  /** Whether dependents stay when a deletion does not say what becomes of them (jobs). */
  readonly orphansByDefault: boolean;
  /** Whether a new object keeps the status it brings (nodes, whose kubelets make them). */
  readonly keepsNewStatus: boolean;
  /** Whether an update is checked as a new object is, besides as an update: what is wrong with its metadata is then told once more. */
  readonly isCheckedAgain: boolean;
  /** Metadata that a write of the status leaves as it is; neutral: all of it. */
  readonly keptByStatus: readonly string[] | "all";
  /** Whether objects are given time to go (pods): then also one that goes at once is marked first. */
  readonly isGraceful: boolean;
  /** How long an object may take to go when it is deleted: pods, as long as they asked for or the deletion says. Neutral: no time. */
  graceSeconds(object: JsonObject, asked: number | undefined): number;
  /** Whether something beside finalizers keeps an object that is to go: namespaces, until `spec.finalizers` are empty. */
  isHeld(object: JsonObject): boolean;
  /** What else an object shows when it is to go: namespaces are Terminating. */
  markedForDeletion(object: JsonObject): JsonObject;
}

export interface Circumstances {
  /** RFC 3339 in whole seconds, as `metadata.creationTimestamp` is. */
  readonly time: string;
  /** From the seeded or the real ids. */
  uuid(): string;
  /** What is there of another kind, in a namespace or everywhere: for what is allotted once (addresses, ports) or taken from elsewhere (classes). */
  objects(kind: { readonly group: string; readonly resource: string }, namespace?: string): readonly JsonObject[];
}
