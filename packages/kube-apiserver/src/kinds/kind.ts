import type { Result } from "@oaas/foundation";
import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { FieldError } from "../schema/field-error.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";

/**
 * Everything the server knows about a kind. Built-in kinds are recorded data plus rules in code; custom kinds come from
 * their definition. The verbs use nothing else: there is no second path.
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
  /** The verbs in discovery: create, delete, deletecollection, get, list, patch, update, watch, or fewer. */
  readonly verbs: readonly string[];
  /** In discovery order. */
  readonly versions: readonly KindVersion[];
  /** The storage version; `rules.convert` converts between versions. */
  readonly storageVersion: string;
  /** The storage hash in discovery. */
  readonly storageVersionHash?: string;
  /**
   * Another kind with the same stored objects in another form: events of `events.k8s.io` are those of the core.
   * `rules.convert` converts.
   */
  readonly sameObjectsAs?: { readonly group: string; readonly resource: string };
  /** Virtual objects (reviews): answered at create (access/), never stored. */
  readonly isVirtual?: boolean;
  readonly rules: KindRules;
}

export interface KindVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly schema: StructuralSchema;
  /** Whether `/status` exists and alone writes `status`. */
  readonly hasStatus: boolean;
  readonly scale?: ScalePaths;
  /** Every subresource in discovery, including status and scale; for custom kinds derived from the two above. */
  readonly subresources?: readonly KindSubresource[];
  /** Field selectors besides metadata.name and metadata.namespace, such as `spec.nodeName`. */
  readonly selectableFields: readonly string[];
  readonly columns: readonly Column[];
  readonly deprecationWarning?: string;
  /** For custom kinds: unknown fields are pruned by schema. Built-in kinds drop them while decoding. */
  readonly preservesUnknownFields?: boolean;
}

/** A subresource in discovery. */
export interface KindSubresource {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** The scale paths of a kind; dotted paths as in definitions. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  /** A string, or (built-in kinds) a selector, which `/scale` shows as a string. */
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

/** The code rules of a kind. Every member has a neutral default (`createKindRules({})`), used for custom kinds. */
export interface KindRules {
  /** Whether `metadata.generation` is maintained (not for all kinds). */
  readonly countsGenerations: boolean;
  /** Which changes increment it; by default everything except metadata and status. */
  startsGeneration(next: JsonObject, live: JsonObject): boolean;
  /**
   * Decodes a body. Built-in kinds are decoded as in Go: a wrong type rejects the body with this message (400), unknown
   * fields, nulls, empty lists and zeros are dropped, quantities are normalized. Custom kinds: unchanged.
   */
  decode(object: JsonObject): Result<JsonObject, string>;
  /** Whether objects are validated by their schema. Built-in kinds are validated by `errors`. */
  readonly isValidatedBySchema: boolean;
  /** The object in another version or form of its kind. */
  convert(object: JsonObject, apiVersion: string): JsonObject;
  /** A stored object as read today: its definition may have changed. By default unchanged. */
  readBack(object: JsonObject): JsonObject;
  /** The value for a field selector; by default the value at the path, empty when absent. */
  selectableText(object: JsonObject, field: string): string;
  /** Fills in defaults that schemas do not express: runs after them on each write and read. */
  applyDefaults(object: JsonObject): JsonObject;
  /** Prepares a new object for validation: resets server-managed fields and allocates values. */
  prepareCreate(object: JsonObject, context: AdmissionContext): JsonObject;
  /** The same for an update. Status and metadata are handled before. */
  prepareUpdate(next: JsonObject, live: JsonObject, context: AdmissionContext): JsonObject;
  /** The same for a status write. */
  prepareStatus(next: JsonObject, live: JsonObject): JsonObject;
  /** Why admission rejects a new object before validation: 403, `pods "a" is forbidden: …`. */
  forbiddenReason(object: JsonObject, context: AdmissionContext): string | undefined;
  /** All violations beyond the schema, with the real server's messages where a conformance case requires it. */
  errors(object: JsonObject, live?: JsonObject): readonly FieldError[];
  /** Warnings for new objects and generations. */
  warnings(object: JsonObject, isNew: boolean): readonly string[];
  /** Additional violations of a status write. */
  statusErrors(next: JsonObject, live: JsonObject): readonly FieldError[];
  /** Violations of immutable fields. */
  updateErrors(next: JsonObject, live: JsonObject): readonly FieldError[];
  /** Subresources that write a part of the spec under their own rules, such as `resize` of pods. */
  readonly partialWrites: Readonly<Record<string, PartialWrite>>;
  /** Whether an update may omit the resource version; custom kinds require it. */
  readonly allowsUnconditionalUpdate: boolean;
  /** Whether an update may create the object (leases, roles, services). */
  readonly createsOnUpdate: boolean;
  /** Whether a deletion returns the deleted object instead of a status. */
  readonly returnsDeletedObject: boolean;
  /** Whether dependents are orphaned by default (jobs). */
  readonly orphansByDefault: boolean;
  /** Whether a new object keeps its status (nodes, created by kubelets). */
  readonly keepsNewStatus: boolean;
  /** Whether an update is also validated as a new object; metadata errors are then reported twice. */
  readonly isValidatedTwice: boolean;
  /** Metadata that a status write does not change; by default all of it. */
  readonly keptByStatus: readonly string[] | "all";
  /** Whether objects are deleted gracefully (pods): then an immediate deletion is marked first too. */
  readonly isGraceful: boolean;
  /** The grace period of a deletion: for pods, as requested. By default none. */
  graceSeconds(object: JsonObject, requested: number | undefined): number;
  /** Whether something besides finalizers holds a deleted object: namespaces, until `spec.finalizers` is empty. */
  isHeld(object: JsonObject): boolean;
  /** Additional changes when an object is marked for deletion: namespaces become Terminating. */
  markForDeletion(object: JsonObject): JsonObject;
}

/** The rules of a subresource that writes a part of the spec. */
export interface PartialWrite {
  /** The live spec with the part of the requested object that this subresource writes. */
  selectSpec(requested: JsonObject, live: JsonObject, context: AdmissionContext): JsonObject;
  /** Violations besides those of the object, in place of those of an update. */
  updateErrors(next: JsonObject, live: JsonObject): readonly FieldError[];
  /** Why admission rejects the valid change: 403. */
  rejection(next: JsonObject, live: JsonObject, context: AdmissionContext): AdmissionRejection | undefined;
}

export interface AdmissionRejection {
  readonly reason: string;
  /** The machine-readable cause, such as `NodeCapacity`. */
  readonly cause?: string;
}

export interface AdmissionContext {
  /** RFC 3339 in whole seconds, as in `metadata.creationTimestamp`. */
  readonly time: string;
  /** From the seeded or the real ids. */
  uuid(): string;
  /** Objects of another kind, for allocations (addresses, ports) and lookups (classes). */
  objects(kind: { readonly group: string; readonly resource: string }, namespace?: string): readonly JsonObject[];
}
