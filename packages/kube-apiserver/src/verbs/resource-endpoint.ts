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
import { checkName } from "./change/change-errors.ts";
import { createObject } from "./change/create-object.ts";
import { deleteObject } from "./change/delete-object.ts";
import { evictPod } from "./subresources/eviction.ts";
import { listObjects, parseVersion } from "./read/list-objects.ts";
import { createApplyChange, createPatchChange, getPatchType, parsePatch } from "./change/patch-object.ts";
import type { Presenter } from "./read/presenter.ts";
import {
  listObjectWarnings,
  getChangeTarget,
  type VerbResult,
  type NamedRequest,
  type ResourceRequest,
} from "./resource-request.ts";
import { patchScale, createScaleResponse, updateScale } from "./subresources/scale-endpoint.ts";
import { readDeletionOptions, readRequestObject } from "./change/request-body.ts";
import { bindPod, finalizeNamespace } from "./subresources/special-subresources.ts";
import { watchObjects } from "./read/watch-objects.ts";
import { isBuiltIn, storeKindOf, type Target, type VerbContext } from "./verb-context.ts";

export interface EndpointDeps {
  readonly context: VerbContext;
  readonly objects: ClusterObjects;
  readonly presenter: Presenter;
  readonly virtualResources?: VirtualResources;
  readonly escalationGuard?: EscalationGuard;
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

  async handle(target: ResourceRequest): Promise<ApiResponse> {
    const { request, query } = target;
    const isWatch = request.method === "GET" && (target.isOldWatch || isTrue(query.get("watch")));
    const form = negotiateRepresentation(request.headers, query, { isWatch, isCollection: target.name === undefined });
    if (!form.ok) return statusResponse(form.error, { syntax: "json", isPretty: true });
    const error = form.value.as === "Table" ? checkIncludeObject(query.get("includeObject") ?? "") : undefined;
    if (error !== undefined) return statusResponse(error, form.value);
    const warnings: string[] = [];
    const result = await this.#runVerb({ ...target, warnings }, form.value);
    const response = result.ok ? result.value : statusResponse(result.error, form.value, warnings);
    const { deprecationWarning } = target.version;
    return deprecationWarning === undefined ? response : prependWarning(response, deprecationWarning);
  }

  async #runVerb(target: ResourceRequest, form: Representation): Promise<VerbResult> {
    const { method } = target.request;
    if (target.name === undefined) {
      if (method === "GET") return this.#list(target, form);
      if (method === "POST") return this.#create(target, form);
      return method === "DELETE" ? this.#deleteCollection(target, form) : err(methodNotAllowed());
    }
    const named = { ...target, name: target.name };
    switch (method) {
      case "GET":
        return this.#get(named, form);
      case "PUT":
        return this.#update(named, form);
      case "PATCH":
        return this.#patch(named, form);
      case "POST":
        return this.#createSubresource(named, form);
      case "DELETE":
        return target.subresource === undefined ? this.#delete(named, form) : err(methodNotAllowed());
      default:
        return err(methodNotAllowed());
    }
  }

  #get(target: NamedRequest, form: Representation): VerbResult {
    const { context, presenter } = this.#deps;
    const options = parseListOptions(target, target.query, target.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch && target.subresource === undefined) {
      const byName = { field: "metadata.name", operator: "=" as const, value: target.name };
      return ok(this.#watch(target, form, { ...options.value, fields: [...options.value.fields, byName] }));
    }
    const version = parseVersion(options.value.resourceVersion);
    if (!version.ok) return version;
    if (version.value > context.store.revision) {
      return err(tooLargeVersion(options.value.resourceVersion, context.store.revision));
    }
    const stored = this.#getStored(target);
    if (stored === undefined) return err(notFound(target.kind, target.name));
    if (target.subresource === "scale") return createScaleResponse(target, stored.object, form);
    return ok(jsonResponse(200, presenter.formatObject(target, stored, form), form));
  }

  #getStored({ kind, namespace, name }: ResourceRequest & { readonly name: string }): StoredObject | undefined {
    return this.#deps.context.store.get(storeKindOf(kind), objectKey(namespace, name));
  }

  #list(target: ResourceRequest, form: Representation): VerbResult {
    const options = parseListOptions(target, target.query, target.isOldWatch);
    if (!options.ok) return options;
    if (options.value.isWatch) return ok(this.#watch(target, form, options.value));
    const listed = listObjects(this.#deps.context, target, options.value);
    return listed.ok
      ? ok(jsonResponse(200, this.#deps.presenter.formatList(target, listed.value, form), form))
      : listed;
  }

  #watch(target: ResourceRequest, form: Representation, options: ListOptions): ApiResponse {
    const { context, presenter, closing } = this.#deps;
    const version = parseVersion(options.resourceVersion);
    if (!version.ok) return statusResponse(toWatchVersionError(version.error), form);
    const text = presenter.createEventFormatter(target, form);
    return streamResponse(
      watchObjects(context, {
        target,
        options,
        signal: AbortSignal.any([target.request.signal, closing]),
        isServed: () => this.#deps.isServed(target),
        ...(text === undefined ? {} : { text }),
      }),
    );
  }

  async #create(target: ResourceRequest, form: Representation): Promise<VerbResult> {
    const { request, query } = target;
    const options = parseWriteOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const body = readRequestObject(target, options.value.fieldValidation);
    if (!body.ok) return body;
    if (target.kind.isVirtual === true) return this.#handleVirtual(target, body.value.object, form);
    const admitted = admitBody(target, body.value.object);
    if (!admitted.ok) return admitted;
    const denial = this.#checkEscalation(target, nameOf(admitted.value), admitted.value);
    if (denial !== undefined) return err(denial);
    const written = await createObject(this.#deps.context, target, admitted.value, options.value);
    if (!written.ok) {
      // Warnings are sent even when the name is taken.
      if (written.error.reason === "AlreadyExists")
        target.warnings?.push(...target.kind.rules.warnings(admitted.value, true));
      return written;
    }
    const warnings = [...body.value.warnings, ...target.kind.rules.warnings(written.value.object, true)];
    return ok(jsonResponse(201, this.#formatObject(target, written.value, form), form, warnings));
  }

  /** POST to a subresource: binding or eviction of a pod. */
  async #createSubresource(target: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind, name, subresource } = target;
    const options = parseWriteOptions("CreateOptions", query, request.headers);
    if (!options.ok) return options;
    const bodyKind = subresource === "eviction" ? "Eviction" : "Binding";
    const body = decodeObject(request.body, request.headers["content-type"], bodyKind);
    if (!body.ok) return body;
    const { object } = body.value;
    if (kind.resource === "pods" && (subresource === "binding" || subresource === "eviction")) {
      if (getName(object) !== name) return err(badRequest(`name in URL does not match name in ${bodyKind} object`));
      const result =
        subresource === "binding"
          ? await bindPod(this.#deps.context, target, name, object, options.value)
          : await evictPod(this.#deps, target, name, object, options.value.isDryRun);
      return result.ok ? ok(statusResponse({ status: "Success", code: 201 }, form)) : result;
    }
    if (this.#getStored(target) === undefined) return err(notFound(kind, name));
    return this.#handleVirtual(target, object, form);
  }

  /** Virtual resources are answered by their handlers. */
  #handleVirtual(target: ResourceRequest, body: JsonObject, form: Representation): VerbResult {
    const { request, kind, namespace, name, subresource } = target;
    const named = { ...(name === undefined ? {} : { name }), ...(subresource === undefined ? {} : { subresource }) };
    const response = this.#deps.virtualResources?.handle({ request, kind, namespace, body, ...named });
    if (response === undefined) return err(methodNotAllowed());
    return response.ok ? ok(jsonResponse(201, JSON.stringify(response.value), form)) : response;
  }

  async #update(target: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind } = target;
    const options = parseWriteOptions("UpdateOptions", query, request.headers);
    if (!options.ok) return options;
    if (target.subresource === "scale") return updateScale(this.#deps.context, target, options.value, form);
    if (target.subresource === "finalize") return this.#finalize(target, options.value, form);
    const body = readRequestObject(target, options.value.fieldValidation);
    if (!body.ok) return body;
    const admitted = admitBody(target, body.value.object);
    if (!admitted.ok) return admitted;
    const error = checkName(admitted.value, target.name);
    if (error !== undefined) return err(error);
    const change: ObjectChange = {
      ...getChangeTarget(target),
      next: () => admitted,
      needsVersion: true,
      createsMissing: kind.rules.createsOnUpdate && target.subresource === undefined,
    };
    return this.#writeChange(target, change, options.value, form, body.value.warnings);
  }

  async #finalize(target: NamedRequest, options: WriteOptions, form: Representation): Promise<VerbResult> {
    const body = readRequestObject(target, options.fieldValidation);
    if (!body.ok) return body;
    const written = await finalizeNamespace(this.#deps.context, target, target.name, body.value.object, options);
    return written.ok ? ok(jsonResponse(200, this.#formatObject(target, written.value, form), form)) : written;
  }

  async #patch(target: NamedRequest, form: Representation): Promise<VerbResult> {
    const { request, query, kind } = target;
    const type = getPatchType(request.headers["content-type"], isBuiltIn(kind));
    if (!type.ok) return type;
    const options = parseWriteOptions("PatchOptions", query, request.headers, type.value === "apply");
    if (!options.ok) return options;
    if (type.value !== "apply" && this.#getStored(target) === undefined) return err(notFound(kind, target.name));
    const patch = parsePatch(type.value, request.body);
    if (!patch.ok) return patch;
    const { context } = this.#deps;
    if (target.subresource === "scale") {
      return patchScale(context, target, { type: type.value, patch: patch.value }, options.value, form);
    }
    if (type.value === "apply") {
      const change = createApplyChange(
        context,
        target,
        getChangeTarget(target),
        patch.value as JsonObject,
        options.value,
      );
      return change.ok ? this.#writeChange(target, change.value, options.value, form, []) : change;
    }
    const warnings: string[] = [];
    const change = createPatchChange(target, getChangeTarget(target), type.value, patch.value, (object) => {
      const { fieldValidation } = options.value;
      const unknown = fieldValidation === "Ignore" ? [] : validateStrictness(target, object, []);
      if (fieldValidation === "Strict" && unknown.length > 0) return `strict decoding error: ${unknown.join(", ")}`;
      warnings.push(...unknown);
      target.warnings?.push(...unknown);
      return undefined;
    });
    return this.#writeChange(target, change, options.value, form, warnings);
  }

  async #writeChange(
    target: NamedRequest,
    change: ObjectChange,
    options: Parameters<typeof changeObject>[3],
    form: Representation,
    warnings: readonly string[],
  ): Promise<VerbResult> {
    let before: JsonObject = {};
    const next: ObjectChange["next"] = (live) => {
      before = live;
      const requested = change.next(live);
      if (!requested.ok) return requested;
      const error = this.#checkEscalation(target, target.name, requested.value, live);
      return error === undefined ? requested : err(error);
    };
    const written = await changeObject(this.#deps.context, target, { ...change, next }, options);
    if (!written.ok) return written;
    const allWarnings = [...warnings, ...listObjectWarnings(target, written.value, before)];
    return ok(
      jsonResponse(written.value.isNew ? 201 : 200, this.#formatObject(target, written.value, form), form, allWarnings),
    );
  }

  #checkEscalation(target: ResourceRequest, name: string, object: JsonObject, live?: JsonObject): Status | undefined {
    const { request, kind, namespace } = target;
    const before = live === undefined || Object.keys(live).length === 0 ? {} : { live };
    return this.#deps.escalationGuard?.check(request, { kind, namespace, name, object, ...before });
  }

  async #delete(target: NamedRequest, form: Representation): Promise<VerbResult> {
    const { kind, name } = target;
    const options = readDeletionOptions(target);
    if (!options.ok) return options;
    const usesDefault =
      options.value.propagation === undefined && kind.group === "batch" && kind.rules.orphansByDefault;
    const warnings = usesDefault ? [JOBS_KEEP_PODS] : [];
    const deleted = await deleteObject(this.#deps.context, target, name, options.value);
    if (!deleted.ok) return deleted;
    const isGone = deleted.value.isGone || (options.value.isDryRun && deleted.value.stored === undefined);
    if (!isGone || kind.rules.returnsDeletedObject) {
      return ok(jsonResponse(200, this.#formatObject(target, deleted.value, form), form, warnings));
    }
    const { uid } = deleted.value;
    const details = { name, ...(kind.group === "" ? {} : { group: kind.group }), kind: kind.resource, uid };
    return ok(statusResponse({ status: "Success", details }, form, warnings));
  }

  /** Deletes one by one, as the real server does: a list may grow while it is being emptied. */
  async #deleteCollection(target: ResourceRequest, form: Representation): Promise<VerbResult> {
    const { context, presenter } = this.#deps;
    const options = readDeletionOptions(target);
    if (!options.ok) return options;
    const selection = parseListOptions(target, target.query, false);
    if (!selection.ok) return selection;
    const listed = listObjects(context, target, { ...selection.value, isWatch: false });
    if (!listed.ok) return listed;
    for (const { object } of listed.value.items) {
      const { name = "", namespace = "" } = object["metadata"] as {
        readonly name?: string;
        readonly namespace?: string;
      };
      const deleted = await deleteObject(context, { ...target, namespace }, name, options.value);
      if (!deleted.ok && deleted.error.code !== 404) return deleted;
    }
    return ok(jsonResponse(200, presenter.formatList(target, listed.value, form), form));
  }

  #formatObject(
    target: ResourceRequest,
    written: { readonly object: JsonObject; readonly stored?: StoredObject },
    form: Representation,
  ): string {
    return this.#deps.presenter.formatObject(target, written.stored ?? written.object, form);
  }
}

const JOBS_KEEP_PODS =
  "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning";

/** The real server's message for such a version in a watch: it reports an internal error. */
function toWatchVersionError({ message = "" }: Status): Status {
  return internalError(message.replace("invalid resource version: ", ""));
}

function checkIncludeObject(includeObject: string): Status | undefined {
  if (["", "Metadata", "Object", "None"].includes(includeObject)) return undefined;
  const reason = `Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata', 'Object', 'None', or empty`;
  return badRequest(`Unable to convert to Table as requested: includeObject: ${reason}`);
}

function getName(object: JsonObject): unknown {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata["name"] : undefined;
}
