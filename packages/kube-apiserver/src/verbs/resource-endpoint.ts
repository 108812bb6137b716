import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type JsonValue, type Status } from "@oaas/kube-core";
import type { ApiRequest, ApiResponse } from "../api.ts";
import { admittedBody } from "../admission/admitted-body.ts";
import { typedBody } from "../admission/body-type.ts";
import { metadataOf, nameOf } from "../admission/metadata.ts";
import { strictnessErrors } from "../admission/strictness.ts";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import { jsonAnswer, statusAnswer, streamAnswer, withWarning } from "../request/answers.ts";
import { jsonValue, PROTOBUF, readObject, yamlValue } from "../request/body.ts";
import { isTrue, listOptions, type ListOptions } from "../request/list-options.ts";
import { mediaRange, representationOf, type Representation } from "../request/media-types.ts";
import { deletionOptions, writeOptions, type FieldValidation, type WriteOptions } from "../request/options.ts";
import type { Grants, Questions } from "../request/router.ts";
import {
  badRequest,
  internalError,
  methodNotAllowed,
  notFound,
  tooLargeVersion,
  unknownBodyType,
} from "../request/refusals.ts";
import { objectKey, type StoredObject } from "../store/stored-object.ts";
import { changeObject, nameRefusal, type ObjectChange } from "./change-object.ts";
import { createObject } from "./create-object.ts";
import { deleteObject } from "./delete-object.ts";
import { writerOf } from "./new-object.ts";
import { listObjects, versionOf } from "./list-objects.ts";
import {
  applyChange,
  patchChange,
  patched,
  patchTypeOf,
  readPatch,
  unreadablePatch,
  type PatchType,
} from "./patch-object.ts";
import type { Presenter } from "./presenter.ts";
import { readScale, scaleApplied, scaled, scaleOf, unknownInScale, type ScaleStep } from "./scale.ts";
import { evictPod } from "./eviction.ts";
import { bindPod, finalizeNamespace } from "./special-subresources.ts";
import { watchObjects } from "./watch-objects.ts";
import { isBuiltIn, presented, storeKindOf, type Target, type World } from "./world.ts";

/** A request about objects of a kind, as far as its path and query say. */
export interface ResourceRequest extends Target {
  readonly request: ApiRequest;
  readonly query: URLSearchParams;
  readonly name?: string;
  readonly subresource?: string;
  readonly isOldWatch: boolean;
  /** Told to the client whatever becomes of the request. */
  readonly warnings?: string[];
}

type Named = ResourceRequest & { readonly name: string };

export interface EndpointDeps {
  readonly world: World;
  readonly objects: ClusterObjects;
  readonly presenter: Presenter;
  readonly questions?: Questions;
  readonly grants?: Grants;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  isServed(target: Target): boolean;
}

/** What a verb gives back: an answer, or the refusal it becomes. */
export type Answered = Result<ApiResponse, Status>;

/** Answers requests about objects: reads what is asked for, lets the verb do it, writes the answer. */
export class ResourceEndpoint {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  async answer(asked: ResourceRequest): Promise<ApiResponse> {
    const { request, query } = asked;
    const isWatch = request.method === "GET" && (asked.isOldWatch || isTrue(query.get("watch")));
    const form = representationOf(request.headers, query, { isWatch, isCollection: asked.name === undefined });
    if (!form.ok) return statusAnswer(form.error, { syntax: "json", isPretty: true });
    const refusal = form.value.as === "Table" ? includeObjectRefusal(query.get("includeObject") ?? "") : undefined;
    if (refusal !== undefined) return statusAnswer(refusal, form.value);
    const warnings: string[] = [];
    const answered = await this.#verb({ ...asked, warnings }, form.value);
    const answer = answered.ok ? answered.value : statusAnswer(answered.error, form.value, warnings);
    const { deprecationWarning } = asked.version;
    return deprecationWarning === undefined ? answer : withWarning(answer, deprecationWarning);
  }

  async #verb(asked: ResourceRequest, form: Representation): Promise<Answered> {
    const { method } = asked.request;
    if (asked.name === undefined) {
      if (method === "GET") return this.#list(asked, form);
      if (method === "POST") return this.#create(asked, form);
      return method === "DELETE" ? this.#deleteCollection(asked, form) : err(methodNotAllowed());
    }
    const place = { ...asked, name: asked.name };
    switch (method) {
      case "GET":
        return this.#get(place, form);
      case "PUT":
        return this.#update(place, form);
      case "PATCH":
        return this.#patch(place, form);
      case "POST":
        return this.#createSubresource(place, form);
      case "DELETE":
        return asked.subresource === undefined ? this.#delete(place, form) : err(methodNotAllowed());
      default:
        return err(methodNotAllowed());
    }
  }

  #get(asked: Named, form: Representation): Answered {
    const { world, presenter } = this.#deps;
    const options = listOptions(asked, asked.query, asked.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch && asked.subresource === undefined) {
      const byName = { field: "metadata.name", operator: "=" as const, value: asked.name };
      return ok(this.#watch(asked, form, { ...options.value, fields: [...options.value.fields, byName] }));
    }
    const version = versionOf(options.value.resourceVersion);
    if (!version.ok) return version;
    if (version.value > world.store.revision) {
      return err(tooLargeVersion(options.value.resourceVersion, world.store.revision));
    }
    const stored = this.#stored(asked);
    if (stored === undefined) return err(notFound(asked.kind, asked.name));
    if (asked.subresource === "scale") return this.#scaleAnswer(asked, stored.object, 200, form);
    return ok(jsonAnswer(200, presenter.one(asked, stored, form), form));
  }

  #stored({ kind, namespace, name }: ResourceRequest & { readonly name: string }): StoredObject | undefined {
    return this.#deps.world.store.get(storeKindOf(kind), objectKey(namespace, name));
  }

  #list(asked: ResourceRequest, form: Representation): Answered {
    const options = listOptions(asked, asked.query, asked.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch) return ok(this.#watch(asked, form, options.value));
    const listed = listObjects(this.#deps.world, asked, options.value);
    return listed.ok ? ok(jsonAnswer(200, this.#deps.presenter.list(asked, listed.value, form), form)) : listed;
  }

  #watch(asked: ResourceRequest, form: Representation, options: ListOptions): ApiResponse {
    const { world, presenter, closing } = this.#deps;
    const version = versionOf(options.resourceVersion);
    if (!version.ok) return statusAnswer(watchVersionRefusal(version.error), form);
    const text = presenter.event(asked, form);
    return streamAnswer(
      watchObjects(world, {
        target: asked,
        options,
        signal: AbortSignal.any([asked.request.signal, closing]),
        isServed: () => this.#deps.isServed(asked),
        ...(text === undefined ? {} : { text }),
      }),
    );
  }

  async #create(asked: ResourceRequest, form: Representation): Promise<Answered> {
    const { request, query } = asked;
    const options = writeOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const body = this.#body(asked, options.value.fieldValidation);
    if (!body.ok) return body;
    if (asked.kind.isQuestion === true) return this.#question(asked, body.value.object, form);
    const admitted = admittedBody(asked, body.value.object);
    if (!admitted.ok) return admitted;
    const granted = this.#granted(asked, nameOf(admitted.value), admitted.value);
    if (granted !== undefined) return err(granted);
    const written = await createObject(this.#deps.world, asked, admitted.value, options.value);
    if (!written.ok) {
      // What is odd is told before it turns out that the name is taken.
      if (written.error.reason === "AlreadyExists")
        asked.warnings?.push(...asked.kind.rules.warnings(admitted.value, true));
      return written;
    }
    const warnings = [...body.value.warnings, ...asked.kind.rules.warnings(written.value.object, true)];
    return ok(jsonAnswer(201, this.#text(asked, written.value, form), form, warnings));
  }

  /** What is done by posting to an object: a pod gets a node, or is evicted. */
  async #createSubresource(asked: Named, form: Representation): Promise<Answered> {
    const { request, query, kind, name, subresource } = asked;
    const options = writeOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const body = readObject(
      request.body,
      request.headers["content-type"],
      subresource === "eviction" ? "Eviction" : "Binding",
    );
    if (!body.ok) return body;
    const { world } = this.#deps;
    const said = nameIn(body.value.object);
    if (subresource === "binding" && kind.resource === "pods") {
      if (said !== name) return err(badRequest("name in URL does not match name in Binding object"));
      const bound = await bindPod(world, asked, name, body.value.object, options.value);
      return bound.ok ? ok(statusAnswer({ status: "Success", code: 201 }, form)) : bound;
    }
    if (subresource === "eviction" && kind.resource === "pods") {
      if (said !== name) return err(badRequest("name in URL does not match name in Eviction object"));
      const evicted = await evictPod(this.#deps, asked, name, body.value.object, options.value.isDryRun);
      return evicted.ok ? ok(statusAnswer({ status: "Success", code: 201 }, form)) : evicted;
    }
    if (this.#stored(asked) === undefined) return err(notFound(kind, name));
    return this.#question(asked, body.value.object, form);
  }

  /** What is never kept is answered by those who know. */
  #question(asked: ResourceRequest, body: JsonObject, form: Representation): Answered {
    const { request, kind, namespace, name, subresource } = asked;
    const place = { ...(name === undefined ? {} : { name }), ...(subresource === undefined ? {} : { subresource }) };
    const answer = this.#deps.questions?.answer({ request, kind, namespace, body, ...place });
    if (answer === undefined) return err(methodNotAllowed());
    return answer.ok ? ok(jsonAnswer(201, JSON.stringify(answer.value), form)) : answer;
  }

  async #update(asked: Named, form: Representation): Promise<Answered> {
    const { request, query, kind } = asked;
    const options = writeOptions("UpdateOptions", query, request.headers);
    if (!options.ok) return options;
    if (asked.subresource === "scale") return this.#updateScale(asked, form);
    if (asked.subresource === "finalize") return this.#finalize(asked, options.value, form);
    const body = this.#body(asked, options.value.fieldValidation);
    if (!body.ok) return body;
    const admitted = admittedBody(asked, body.value.object);
    if (!admitted.ok) return admitted;
    const refusal = nameRefusal(admitted.value, asked.name);
    if (refusal !== undefined) return err(refusal);
    const change: ObjectChange = {
      ...placeOf(asked),
      next: () => admitted,
      needsVersion: true,
      createsMissing: kind.rules.createsOnUpdate && asked.subresource === undefined,
    };
    return this.#changed(asked, change, options.value, form, body.value.warnings);
  }

  async #finalize(asked: Named, options: WriteOptions, form: Representation): Promise<Answered> {
    const body = this.#body(asked, options.fieldValidation);
    if (!body.ok) return body;
    const written = await finalizeNamespace(this.#deps.world, asked, asked.name, body.value.object, options);
    return written.ok ? ok(jsonAnswer(200, this.#text(asked, written.value, form), form)) : written;
  }

  async #patch(asked: Named, form: Representation): Promise<Answered> {
    const { request, query, kind } = asked;
    const type = patchTypeOf(request.headers["content-type"], isBuiltIn(kind));
    if (!type.ok) return type;
    const options = writeOptions("PatchOptions", query, request.headers, type.value === "apply");
    if (!options.ok) return options;
    if (type.value !== "apply" && this.#stored(asked) === undefined) return err(notFound(kind, asked.name));
    const patch = readPatch(type.value, request.body);
    if (!patch.ok) return patch;
    if (asked.subresource === "scale") {
      return this.#patchScale(asked, type.value, patch.value, form);
    }
    const { world } = this.#deps;
    if (type.value === "apply") {
      const change = applyChange(world, asked, placeOf(asked), patch.value as JsonObject, options.value);
      return change.ok ? this.#changed(asked, change.value, options.value, form, []) : change;
    }
    const warnings: string[] = [];
    const change = patchChange(asked, placeOf(asked), type.value, patch.value, (object) => {
      const { fieldValidation } = options.value;
      const unknown = fieldValidation === "Ignore" ? [] : strictnessErrors(asked, object, []);
      if (fieldValidation === "Strict" && unknown.length > 0) return `strict decoding error: ${unknown.join(", ")}`;
      warnings.push(...unknown);
      asked.warnings?.push(...unknown);
      return undefined;
    });
    return this.#changed(asked, change, options.value, form, warnings);
  }

  async #changed(
    asked: Named,
    change: ObjectChange,
    options: Parameters<typeof changeObject>[3],
    form: Representation,
    warnings: readonly string[],
  ): Promise<Answered> {
    let before: JsonObject = {};
    const next: ObjectChange["next"] = (live) => {
      before = live;
      const wanted = change.next(live);
      if (!wanted.ok) return wanted;
      const refusal = this.#granted(asked, asked.name, wanted.value, live);
      return refusal === undefined ? wanted : err(refusal);
    };
    const written = await changeObject(this.#deps.world, asked, { ...change, next }, options);
    if (!written.ok) return written;
    const told = [...warnings, ...oddities(asked, written.value, before)];
    return ok(jsonAnswer(written.value.isNew ? 201 : 200, this.#text(asked, written.value, form), form, told));
  }

  #granted(asked: ResourceRequest, name: string, object: JsonObject, live?: JsonObject): Status | undefined {
    const { request, kind, namespace } = asked;
    const before = live === undefined || Object.keys(live).length === 0 ? {} : { live };
    return this.#deps.grants?.refusal(request, { kind, namespace, name, object, ...before });
  }

  async #updateScale(asked: Named, form: Representation): Promise<Answered> {
    const options = writeOptions("UpdateOptions", asked.query, asked.request.headers);
    if (!options.ok) return options;
    const body = readObject(asked.request.body, asked.request.headers["content-type"], "Scale");
    if (!body.ok) return body;
    const read = this.#readScale(asked, body.value.object, options.value.fieldValidation, scaleBodyRefusal);
    if (!read.ok) return read;
    const refusal = nameRefusal(read.value, asked.name);
    if (refusal !== undefined) return err(refusal);
    return this.#scaled(asked, { next: () => read, isApply: false }, options.value, form);
  }

  async #patchScale(asked: Named, type: PatchType, patch: JsonValue, form: Representation): Promise<Answered> {
    const options = writeOptions("PatchOptions", asked.query, asked.request.headers, type === "apply");
    if (!options.ok) return options;
    if (type === "apply") {
      const writer = writerOf(this.#deps.world, asked, options.value.manager, "scale");
      const next = scaleApplied(asked, patch as JsonObject, writer, options.value.isForced);
      return this.#scaled(asked, { next, isApply: true }, options.value, form);
    }
    const next: ScaleStep = (scale) => {
      const result = patched(type, patch, scale, {});
      if (!result.ok) return result;
      return this.#readScale(asked, result.value, options.value.fieldValidation, unreadablePatch);
    };
    return this.#scaled(asked, { next, isApply: false }, options.value, form);
  }

  /** A Scale out of what was sent, or out of a patch; `refused` says why it is none. */
  #readScale(
    asked: Named,
    sent: JsonObject,
    validation: FieldValidation,
    refused: (sent: JsonObject, why: string) => Status,
  ): Result<JsonObject, Status> {
    const { kind = "Scale", apiVersion = "autoscaling/v1" } = sent;
    const typed = { ...sent, kind, apiVersion };
    const type = scaleTypeRefusal(typed);
    if (type !== undefined) return err(type);
    const unknown = validation === "Ignore" ? [] : unknownInScale(typed).map((path) => `unknown field "${path}"`);
    if (validation === "Warn") asked.warnings?.push(...unknown);
    const read = readScale(typed);
    if (!read.ok) return err(refused(typed, read.error));
    if (validation !== "Strict" || unknown.length === 0) return read;
    return err(refused(typed, `strict decoding error: ${unknown.join(", ")}`));
  }

  async #scaled(
    asked: Named,
    step: { readonly next: ScaleStep; readonly isApply: boolean },
    options: WriteOptions,
    form: Representation,
  ): Promise<Answered> {
    const { world } = this.#deps;
    const paths = asked.version.scale;
    if (paths === undefined) return err(methodNotAllowed());
    const writer = writerOf(world, asked, options.manager, "scale");
    let before: JsonObject = {};
    const change: ObjectChange = {
      name: asked.name,
      subresource: "scale",
      keepsManagers: true,
      next: (live) => {
        before = live;
        return scaled(asked, paths, live, writer, step);
      },
    };
    const written = await changeObject(world, asked, change, options);
    if (!written.ok) return written;
    const warnings = [...(asked.warnings ?? []), ...oddities(asked, written.value, before)];
    return this.#scaleAnswer(asked, written.value.object, 200, form, warnings);
  }

  #scaleAnswer(
    asked: ResourceRequest,
    object: JsonObject,
    code: number,
    form: Representation,
    warnings: readonly string[] = [],
  ): Answered {
    const paths = asked.version.scale;
    if (paths === undefined) return err(methodNotAllowed());
    const scale = scaleOf(asked, paths, presented(asked, object));
    return scale.ok ? ok(jsonAnswer(code, JSON.stringify(scale.value), form, warnings)) : scale;
  }

  async #delete(asked: Named, form: Representation): Promise<Answered> {
    const { kind, name } = asked;
    const options = this.#deletionOptions(asked);
    if (!options.ok) return options;
    const isSilent = options.value.propagation === undefined && kind.group === "batch" && kind.rules.orphansByDefault;
    const warnings = isSilent ? [JOBS_KEEP_PODS] : [];
    const deleted = await deleteObject(this.#deps.world, asked, name, options.value);
    if (!deleted.ok) return deleted;
    const isGone = deleted.value.isGone || (options.value.isDryRun && deleted.value.stored === undefined);
    if (!isGone || kind.rules.answersDeletedObject) {
      return ok(jsonAnswer(200, this.#text(asked, deleted.value, form), form, warnings));
    }
    const { uid } = deleted.value;
    const details = { name, ...(kind.group === "" ? {} : { group: kind.group }), kind: kind.resource, uid };
    return ok(statusAnswer({ status: "Success", details }, form, warnings));
  }

  /** Each one by itself, as the real server does: a list that is being emptied may still grow. */
  async #deleteCollection(asked: ResourceRequest, form: Representation): Promise<Answered> {
    const { world, presenter } = this.#deps;
    const options = this.#deletionOptions(asked);
    if (!options.ok) return options;
    const selection = listOptions(asked, asked.query, false);
    if (!selection.ok) return selection;
    const listed = listObjects(world, asked, { ...selection.value, isWatch: false });
    if (!listed.ok) return listed;
    for (const { object } of listed.value.items) {
      const { name = "", namespace = "" } = object["metadata"] as {
        readonly name?: string;
        readonly namespace?: string;
      };
      const deleted = await deleteObject(world, { ...asked, namespace }, name, options.value);
      if (!deleted.ok && deleted.error.code !== 404) return deleted;
    }
    return ok(jsonAnswer(200, presenter.list(asked, listed.value, form), form));
  }

  #deletionOptions({ request, query }: ResourceRequest): ReturnType<typeof deletionOptions> {
    if (request.body === "") return deletionOptions(query, undefined);
    const { type } = mediaRange(request.headers["content-type"] ?? "application/json");
    if (type === PROTOBUF) {
      const read = readObject(request.body, type, "DeleteOptions");
      return read.ok ? deletionOptions(query, read.value.object) : read;
    }
    if (type !== "application/json" && type !== "application/yaml") return err(unknownBodyType());
    const value = type === "application/yaml" ? yamlValue(request.body) : jsonValue(request.body);
    if (!value.ok) {
      const why = typeof value.error === "string" ? value.error : value.error.message;
      return err(badRequest(`couldn't get version/kind; json parse error: ${why}`));
    }
    if (!isJsonObject(value.value)) return err(badRequest("the body of a deletion must be DeleteOptions"));
    const { kind } = value.value;
    if (typeof kind === "string" && kind !== "" && kind !== "DeleteOptions") {
      const version = JSON.stringify(value.value["apiVersion"] ?? "v1");
      return err(
        badRequest(
          `no kind ${JSON.stringify(kind)} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`,
        ),
      );
    }
    return deletionOptions(query, value.value);
  }

  #body(
    asked: ResourceRequest,
    validation: FieldValidation,
  ): Result<{ readonly object: JsonObject; readonly warnings: readonly string[] }, Status> {
    const { request, kind } = asked;
    const contentType = request.headers["content-type"];
    if (!isBuiltIn(kind) && mediaRange(contentType ?? "").type === PROTOBUF) return err(unknownBodyType());
    const read = readObject(request.body, contentType, kind.kind);
    if (!read.ok) return read;
    const typed = typedBody(asked, read.value.object);
    if (!typed.ok) return typed;
    const strict = this.#strict(asked, typed.value, read.value.duplicates, validation);
    if (!strict.ok) return strict;
    asked.warnings?.push(...strict.value);
    return ok({ object: typed.value, warnings: strict.value });
  }

  /** Warnings about fields that mean nothing, or the refusal when they are not to be let pass. */
  #strict(
    asked: ResourceRequest,
    object: JsonObject,
    duplicates: readonly string[],
    validation: FieldValidation,
  ): Result<readonly string[], Status> {
    if (validation === "Ignore") return ok([]);
    const errors = strictnessErrors(asked, object, duplicates);
    if (validation === "Warn" || errors.length === 0) return ok(errors);
    const { kind } = asked.kind;
    const why = `strict decoding error: ${errors.join(", ")}`;
    return err(badRequest(`${kind} in version "${asked.version.name}" cannot be handled as a ${kind}: ${why}`));
  }

  #text(
    asked: ResourceRequest,
    written: { readonly object: JsonObject; readonly stored?: StoredObject },
    form: Representation,
  ): string {
    return this.#deps.presenter.one(asked, written.stored ?? written.object, form);
  }
}

const JOBS_KEEP_PODS =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

/** What the real server says of such a version when it is to watch from it: it takes it for a fault of its own. */
function watchVersionRefusal({ message = "" }: Status): Status {
  return internalError(message.replace("invalid resource version: ", ""));
}

/** What is allowed but odd in what was written: told of a new object, and of each generation. */
function oddities(
  { kind, subresource }: ResourceRequest,
  { object, isNew }: { readonly object: JsonObject; readonly isNew: boolean },
  before: JsonObject,
): readonly string[] {
  if (subresource === "status") return [];
  const isSame = metadataOf(object)["generation"] === metadataOf(before)["generation"];
  return isSame && !isNew ? [] : kind.rules.warnings(object, isNew);
}

function includeObjectRefusal(said: string): Status | undefined {
  if (["", "Metadata", "Object", "None"].includes(said)) return undefined;
  const why = `Invalid value: ${JSON.stringify(said)}: must be 'Metadata', 'Object', 'None', or empty`;
  return badRequest(`Unable to convert to Table as requested: includeObject: ${why}`);
}

function scaleTypeRefusal({ kind, apiVersion }: JsonObject): Status | undefined {
  if (kind === "Scale" && apiVersion === "autoscaling/v1") return undefined;
  const [said = "", version = ""] = [kind, apiVersion].map((text) => (typeof text === "string" ? text : ""));
  const why = `no kind "${said}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`;
  return badRequest(`${said} in version "${version.split("/").at(-1) ?? ""}" cannot be handled as a Scale: ${why}`);
}

function scaleBodyRefusal(_sent: JsonObject, why: string): Status {
  return badRequest(`Scale in version "v1" cannot be handled as a Scale: ${why}`);
}

function nameIn(object: JsonObject): unknown {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata["name"] : undefined;
}

function placeOf({
  name,
  subresource,
}: {
  readonly name: string;
  readonly subresource?: string;
}): Pick<ObjectChange, "name" | "subresource"> {
  return { name, ...(subresource === undefined ? {} : { subresource }) };
}
