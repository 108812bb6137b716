import { err, ok } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type Status } from "@oaas/kube-core";
import { admitBody } from "../admission/admit-body.ts";
import { nameOf } from "../admission/metadata.ts";
import { validateStrictness } from "../admission/strictness.ts";
import type { ApiResponse } from "../api.ts";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import { jsonResponse, statusResponse, streamResponse, prependWarning } from "../request/response/responses.ts";
import { decodeObject } from "../request/body/body.ts";
import { isTrue, parseListOptions, type ListOptions } from "../request/query/list-options.ts";
import { negotiateRepresentation, type Representation } from "../request/body/media-types.ts";
import { parseWriteOptions, type WriteOptions } from "../request/query/options.ts";
import {
  badRequest,
  internalError,
  methodNotAllowed,
  notFound,
  tooLargeVersion,
} from "../request/response/status-errors.ts";
import type { EscalationGuard, VirtualResources } from "../request/routing/router.ts";
import { objectKey, type StoredObject } from "../store/stored-object.ts";
import { changeObject, type ObjectChange } from "./change/change-object.ts";
import { nameMismatch } from "./change/change-errors.ts";
import { createObject } from "./change/create-object.ts";
import { deleteObject } from "./change/delete-object.ts";
import { evictPod } from "./subresources/eviction.ts";
import { listObjects, versionOf } from "./read/list-objects.ts";
import { applyChange, patchChange, patchTypeOf, readPatch } from "./change/patch-object.ts";
import type { Presenter } from "./read/presenter.ts";
import {
  objectWarnings,
  changeTarget,
  type VerbResult,
  type NamedRequest,
  type ResourceRequest,
} from "./resource-request.ts";
import { patchScale, scaleResponse, updateScale } from "./subresources/scale-endpoint.ts";
import { readDeletionOptions, readRequestObject } from "./change/request-body.ts";
import { bindPod, finalizeNamespace } from "./subresources/special-subresources.ts";
import { watchObjects } from "./read/watch-objects.ts";
import { isBuiltIn, storeKindOf, type Target, type VerbContext } from "./verb-context.ts";

export interface EndpointDeps {
  readonly context: VerbContext;
  readonly objects: ClusterObjects;
  readonly presenter: Presenter;
  readonly questions?: VirtualResources;
  readonly grants?: EscalationGuard;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  isServed(target: Target): boolean;
}

/** Serves requests about objects: decodes the request, runs the verb, writes the response. */
export class ResourceEndpoint {
  readonly #deps: EndpointDeps;

  constructor(deps: EndpointDeps) {
    this.#deps = deps;
  }

  async answer(asked: ResourceRequest): Promise<ApiResponse> {
    const { request, query } = asked;
    const isWatch = request.method === "GET" && (asked.isOldWatch || isTrue(query.get("watch")));
    const form = negotiateRepresentation(request.headers, query, { isWatch, isCollection: asked.name === undefined });
    if (!form.ok) return statusResponse(form.error, { syntax: "json", isPretty: true });
    const refusal = form.value.as === "Table" ? includeObjectRefusal(query.get("includeObject") ?? "") : undefined;
    if (refusal !== undefined) return statusResponse(refusal, form.value);
    const warnings: string[] = [];
    const answered = await this.#verb({ ...asked, warnings }, form.value);
    const answer = answered.ok ? answered.value : statusResponse(answered.error, form.value, warnings);
    const { deprecationWarning } = asked.version;
    return deprecationWarning === undefined ? answer : prependWarning(answer, deprecationWarning);
  }

  async #verb(asked: ResourceRequest, form: Representation): Promise<VerbResult> {
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

  #get(asked: NamedRequest, form: Representation): VerbResult {
    const { context, presenter } = this.#deps;
    const options = parseListOptions(asked, asked.query, asked.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch && asked.subresource === undefined) {
      const byName = { field: "metadata.name", operator: "=" as const, value: asked.name };
      return ok(this.#watch(asked, form, { ...options.value, fields: [...options.value.fields, byName] }));
    }
    const version = versionOf(options.value.resourceVersion);
    if (!version.ok) return version;
    if (version.value > context.store.revision) {
      return err(tooLargeVersion(options.value.resourceVersion, context.store.revision));
    }
    const stored = this.#stored(asked);
    if (stored === undefined) return err(notFound(asked.kind, asked.name));
    if (asked.subresource === "scale") return scaleResponse(asked, stored.object, form);
    return ok(jsonResponse(200, presenter.one(asked, stored, form), form));
  }

  #stored({ kind, namespace, name }: ResourceRequest & { readonly name: string }): StoredObject | undefined {
    return this.#deps.context.store.get(storeKindOf(kind), objectKey(namespace, name));
  }

  #list(asked: ResourceRequest, form: Representation): VerbResult {
    const options = parseListOptions(asked, asked.query, asked.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch) return ok(this.#watch(asked, form, options.value));
    const listed = listObjects(this.#deps.context, asked, options.value);
    return listed.ok ? ok(jsonResponse(200, this.#deps.presenter.list(asked, listed.value, form), form)) : listed;
  }

  #watch(asked: ResourceRequest, form: Representation, options: ListOptions): ApiResponse {
    const { context, presenter, closing } = this.#deps;
    const version = versionOf(options.resourceVersion);
    if (!version.ok) return statusResponse(watchVersionRefusal(version.error), form);
    const text = presenter.event(asked, form);
    return streamResponse(
      watchObjects(context, {
        target: asked,
        options,
        signal: AbortSignal.any([asked.request.signal, closing]),
        isServed: () => this.#deps.isServed(asked),
        ...(text === undefined ? {} : { text }),
      }),
    );
  }

  async #create(asked: ResourceRequest, form: Representation): Promise<VerbResult> {
    const { request, query } = asked;
    const options = parseWriteOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const body = readRequestObject(asked, options.value.fieldValidation);
    if (!body.ok) return body;
    if (asked.kind.isVirtual === true) return this.#question(asked, body.value.object, form);
    const admitted = admitBody(asked, body.value.object);
    if (!admitted.ok) return admitted;
    const granted = this.#granted(asked, nameOf(admitted.value), admitted.value);
    if (granted !== undefined) return err(granted);
    const written = await createObject(this.#deps.context, asked, admitted.value, options.value);
    if (!written.ok) {
      // Warnings are sent even when the name is taken.
      if (written.error.reason === "AlreadyExists")
        asked.warnings?.push(...asked.kind.rules.warnings(admitted.value, true));
      return written;
    }
    const warnings = [...body.value.warnings, ...asked.kind.rules.warnings(written.value.object, true)];
    return ok(jsonResponse(201, this.#text(asked, written.value, form), form, warnings));
  }

  /** POST to a subresource: binding or eviction of a pod. */
  async #createSubresource(asked: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind, name, subresource } = asked;
    const options = parseWriteOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const posted = subresource === "eviction" ? "Eviction" : "Binding";
    const body = decodeObject(request.body, request.headers["content-type"], posted);
    if (!body.ok) return body;
    const { object } = body.value;
    if (kind.resource === "pods" && (subresource === "binding" || subresource === "eviction")) {
      if (nameIn(object) !== name) return err(badRequest(`name in URL does not match name in ${posted} object`));
      const done =
        subresource === "binding"
          ? await bindPod(this.#deps.context, asked, name, object, options.value)
          : await evictPod(this.#deps, asked, name, object, options.value.isDryRun);
      return done.ok ? ok(statusResponse({ status: "Success", code: 201 }, form)) : done;
    }
    if (this.#stored(asked) === undefined) return err(notFound(kind, name));
    return this.#question(asked, object, form);
  }

  /** Virtual resources are answered by their handlers. */
  #question(asked: ResourceRequest, body: JsonObject, form: Representation): VerbResult {
    const { request, kind, namespace, name, subresource } = asked;
    const place = { ...(name === undefined ? {} : { name }), ...(subresource === undefined ? {} : { subresource }) };
    const answer = this.#deps.questions?.handle({ request, kind, namespace, body, ...place });
    if (answer === undefined) return err(methodNotAllowed());
    return answer.ok ? ok(jsonResponse(201, JSON.stringify(answer.value), form)) : answer;
  }

  async #update(asked: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind } = asked;
    const options = parseWriteOptions("UpdateOptions", query, request.headers);
    if (!options.ok) return options;
    if (asked.subresource === "scale") return updateScale(this.#deps.context, asked, options.value, form);
    if (asked.subresource === "finalize") return this.#finalize(asked, options.value, form);
    const body = readRequestObject(asked, options.value.fieldValidation);
    if (!body.ok) return body;
    const admitted = admitBody(asked, body.value.object);
    if (!admitted.ok) return admitted;
    const refusal = nameMismatch(admitted.value, asked.name);
    if (refusal !== undefined) return err(refusal);
    const change: ObjectChange = {
      ...changeTarget(asked),
      next: () => admitted,
      needsVersion: true,
      createsMissing: kind.rules.createsOnUpdate && asked.subresource === undefined,
    };
    return this.#changed(asked, change, options.value, form, body.value.warnings);
  }

  async #finalize(asked: NamedRequest, options: WriteOptions, form: Representation): Promise<VerbResult> {
    const body = readRequestObject(asked, options.fieldValidation);
    if (!body.ok) return body;
    const written = await finalizeNamespace(this.#deps.context, asked, asked.name, body.value.object, options);
    return written.ok ? ok(jsonResponse(200, this.#text(asked, written.value, form), form)) : written;
  }

  async #patch(asked: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind } = asked;
    const type = patchTypeOf(request.headers["content-type"], isBuiltIn(kind));
    if (!type.ok) return type;
    const options = parseWriteOptions("PatchOptions", query, request.headers, type.value === "apply");
    if (!options.ok) return options;
    if (type.value !== "apply" && this.#stored(asked) === undefined) return err(notFound(kind, asked.name));
    const patch = readPatch(type.value, request.body);
    if (!patch.ok) return patch;
    const { context } = this.#deps;
    if (asked.subresource === "scale") {
      return patchScale(context, asked, { type: type.value, patch: patch.value }, options.value, form);
    }
    if (type.value === "apply") {
      const change = applyChange(context, asked, changeTarget(asked), patch.value as JsonObject, options.value);
      return change.ok ? this.#changed(asked, change.value, options.value, form, []) : change;
    }
    const warnings: string[] = [];
    const change = patchChange(asked, changeTarget(asked), type.value, patch.value, (object) => {
      const { fieldValidation } = options.value;
      const unknown = fieldValidation === "Ignore" ? [] : validateStrictness(asked, object, []);
      if (fieldValidation === "Strict" && unknown.length > 0) return `strict decoding error: ${unknown.join(", ")}`;
      warnings.push(...unknown);
      asked.warnings?.push(...unknown);
      return undefined;
    });
    return this.#changed(asked, change, options.value, form, warnings);
  }

  async #changed(
    asked: NamedRequest,
    change: ObjectChange,
    options: Parameters<typeof changeObject>[3],
    form: Representation,
    warnings: readonly string[],
  ): Promise<VerbResult> {
    let before: JsonObject = {};
    const next: ObjectChange["next"] = (live) => {
      before = live;
      const wanted = change.next(live);
      if (!wanted.ok) return wanted;
      const refusal = this.#granted(asked, asked.name, wanted.value, live);
      return refusal === undefined ? wanted : err(refusal);
    };
    const written = await changeObject(this.#deps.context, asked, { ...change, next }, options);
    if (!written.ok) return written;
    const all = [...warnings, ...objectWarnings(asked, written.value, before)];
    return ok(jsonResponse(written.value.isNew ? 201 : 200, this.#text(asked, written.value, form), form, all));
  }

  #granted(asked: ResourceRequest, name: string, object: JsonObject, live?: JsonObject): Status | undefined {
    const { request, kind, namespace } = asked;
    const before = live === undefined || Object.keys(live).length === 0 ? {} : { live };
    return this.#deps.grants?.check(request, { kind, namespace, name, object, ...before });
  }

  async #delete(asked: NamedRequest, form: Representation): Promise<VerbResult> {
    const { kind, name } = asked;
    const options = readDeletionOptions(asked);
    if (!options.ok) return options;
    const isSilent = options.value.propagation === undefined && kind.group === "batch" && kind.rules.orphansByDefault;
    const warnings = isSilent ? [JOBS_KEEP_PODS] : [];
    const deleted = await deleteObject(this.#deps.context, asked, name, options.value);
    if (!deleted.ok) return deleted;
    const isGone = deleted.value.isGone || (options.value.isDryRun && deleted.value.stored === undefined);
    if (!isGone || kind.rules.returnsDeletedObject) {
      return ok(jsonResponse(200, this.#text(asked, deleted.value, form), form, warnings));
    }
    const { uid } = deleted.value;
    const details = { name, ...(kind.group === "" ? {} : { group: kind.group }), kind: kind.resource, uid };
    return ok(statusResponse({ status: "Success", details }, form, warnings));
  }

  /** Deletes one by one, as the real server does: a list may grow while it is being emptied. */
  async #deleteCollection(asked: ResourceRequest, form: Representation): Promise<VerbResult> {
    const { context, presenter } = this.#deps;
    const options = readDeletionOptions(asked);
    if (!options.ok) return options;
    const selection = parseListOptions(asked, asked.query, false);
    if (!selection.ok) return selection;
    const listed = listObjects(context, asked, { ...selection.value, isWatch: false });
    if (!listed.ok) return listed;
    for (const { object } of listed.value.items) {
      const { name = "", namespace = "" } = object["metadata"] as {
        readonly name?: string;
        readonly namespace?: string;
      };
      const deleted = await deleteObject(context, { ...asked, namespace }, name, options.value);
      if (!deleted.ok && deleted.error.code !== 404) return deleted;
    }
    return ok(jsonResponse(200, presenter.list(asked, listed.value, form), form));
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

/** The real server's message for such a version in a watch: it reports an internal error. */
function watchVersionRefusal({ message = "" }: Status): Status {
  return internalError(message.replace("invalid resource version: ", ""));
}

function includeObjectRefusal(said: string): Status | undefined {
  if (["", "Metadata", "Object", "None"].includes(said)) return undefined;
  const why = `Invalid value: ${JSON.stringify(said)}: must be 'Metadata', 'Object', 'None', or empty`;
  return badRequest(`Unable to convert to Table as requested: includeObject: ${why}`);
}

function nameIn(object: JsonObject): unknown {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata["name"] : undefined;
}
