import { canonicalJson, err, ok, type Result } from "@oaas/foundation";
import {
  applyMergePatch,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  type Status,
  withMember,
  withoutMember,
} from "@oaas/kube-core";
import { admitCustomResource, validateCustomResource } from "../../src/schema/custom-resource.ts";
import { applyDefaults } from "../../src/schema/defaulting.ts";
import { invalidStatus } from "../../src/schema/field-error.ts";
import type { StructuralSchema } from "../../src/schema/structural-schema.ts";
import { createFieldSet } from "../../src/apply/fields/field-set.ts";
import { memberElement } from "../../src/apply/fields/path-element.ts";
import {
  applyConfiguration,
  trackUpdate,
  type FieldWriter,
  type WriteContext,
} from "../../src/apply/server-side-apply.ts";

/** One write of an object by one manager. */
export interface WriteStep {
  readonly apply?: string;
  readonly create?: string;
  readonly patch?: string;
  readonly update?: string;
  readonly force?: boolean;
  readonly subresource?: "status";
  readonly body: JsonObject;
}

const NAME = "NAME";
const INVALID = 422;
const IDENTITY = { apiVersion: "probe.test/v1", kind: "Mix" };

/** A minimal server that passes writes of one kind with a status subresource to the pure functions. */
export class OneObjectServer {
  readonly #schema: StructuralSchema;
  #live: JsonObject = {};

  constructor(schema: StructuralSchema) {
    this.#schema = schema;
  }

  write(step: WriteStep): Result<JsonObject, Status> {
    const next = this.#next(step);
    if (!next.ok) return next;
    const errors = validateCustomResource(next.value, this.#schema);
    if (errors.length > 0) return err(invalidStatus({ group: "probe.test", kind: "Mix" }, NAME, errors));
    // Stored objects are read back like input, which removes nulls that no type rejected.
    this.#live = admitCustomResource(next.value, this.#schema);
    return ok(this.#live);
  }

  #next(step: WriteStep): Result<JsonObject, Status> {
    const { apply, create, patch, update, subresource, force = false, body } = step;
    const writer: FieldWriter = {
      manager: apply ?? create ?? patch ?? update ?? "",
      apiVersion: IDENTITY.apiVersion,
      time: "2026-01-01T00:00:00Z",
      ...(subresource === undefined ? {} : { subresource }),
      resets: createFieldSet(
        (subresource === undefined ? ["status"] : ["spec", "metadata"]).map((name) => [memberElement(name)]),
      ),
    };
    const context: WriteContext = { live: this.#live, schema: this.#schema, writer };
    const sent = { ...IDENTITY, ...body, metadata: { name: NAME, ...(body["metadata"] as JsonObject | undefined) } };
    if (apply !== undefined) {
      const result = applyConfiguration(context, sent, force);
      return result.ok ? ok(this.#reset(applyDefaults(result.value, this.#schema) as JsonObject, step)) : result;
    }
    const requested = patch === undefined ? sent : (applyMergePatch(this.#live, body) as JsonObject);
    return ok(trackUpdate(context, this.#reset(admitCustomResource(requested, this.#schema), step)));
  }

  /** Each endpoint writes its own part and keeps the other. */
  #reset(next: JsonObject, { subresource }: WriteStep): JsonObject {
    if (subresource === undefined) return withPart(next, "status", memberOf(this.#live, "status"));
    const { managedFields, ...metadata } = this.#live["metadata"] as JsonObject;
    const owners = (next["metadata"] as JsonObject)["managedFields"] ?? managedFields ?? [];
    return withPart(
      { ...next, metadata: { ...metadata, managedFields: owners } },
      "spec",
      memberOf(this.#live, "spec"),
    );
  }
}

function withPart(object: JsonObject, name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? withoutMember(object, name) : withMember(object, name, value);
}

const COMPARED_METADATA = new Set(["labels", "annotations", "finalizers", "ownerReferences"]);

/** The compared part of a response: the object without times and ids, or the error. */
export function answerOf(result: Result<JsonObject, Status>): JsonObject {
  if (!result.ok) {
    const { code = 0, message = "", details } = result.error;
    const causes = details?.causes as JsonValue | undefined;
    return { code, message, ...(causes === undefined ? {} : { causes }) };
  }
  const { spec, status } = result.value;
  const metadata = result.value["metadata"] as JsonObject;
  const managers = (metadata["managedFields"] ?? []) as readonly JsonObject[];
  return {
    metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => COMPARED_METADATA.has(name))),
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
    managers: managers
      .filter(isJsonObject)
      .map(({ time: _time, fieldsType: _type, ...entry }): JsonObject => entry)
      .sort((a, b) => (rank(a) < rank(b) ? -1 : 1)),
  };
}

function rank({ operation, manager, subresource = "" }: JsonObject): string {
  return JSON.stringify([operation, manager, subresource]);
}

/** A response with sorted causes: the server visits members in random order and lists them in its message. */
export function comparable(answer: JsonObject): JsonObject {
  const { causes, message, ...rest } = answer;
  if (!isJsonArray(causes)) return answer;
  const isListed = rest["code"] === INVALID;
  const sorted = causes.map((cause) => canonicalJson(cause)).sort();
  return { ...rest, causes: sorted, ...(isListed || message === undefined ? {} : { message }) };
}
