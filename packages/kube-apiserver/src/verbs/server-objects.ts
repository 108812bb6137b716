import { err, ok, type Result } from "@oaas/foundation";
import { groupResourceText, type JsonObject, type Status } from "@oaas/kube-core";
import { admitBody } from "../admission/admit-body.ts";
import { metadataOf, nameOf } from "../admission/metadata.ts";
import type {
  ClusterObjects,
  DeleteOptions,
  DependentObject,
  ObjectChange,
  ObjectName,
  ResourceName,
  ServedKind,
} from "../controllers/cluster-objects.ts";
import type { KindRegistry } from "../kinds/kind-registry.ts";
import type { WriteOptions } from "../request/query/options.ts";
import { unknownPath } from "../request/response/status-errors.ts";
import { objectKey } from "../store/stored-object.ts";
import { changeObject } from "./change/change-object.ts";
import { createObject } from "./change/create-object.ts";
import { deleteObject } from "./change/delete-object.ts";
import { bindPod, finalizeNamespace } from "./subresources/special-subresources.ts";
import { storeKindOf, type Target, type VerbContext } from "./verb-context.ts";

type Outcome = Promise<Result<JsonObject, Status>>;

/** The server's objects as its own controllers see and write them: the same verbs as for any client, without HTTP. */
export class ServerObjects implements ClusterObjects {
  readonly #context: VerbContext;
  readonly #kinds: KindRegistry;
  readonly #resources = new Map<string, ResourceName>();

  constructor(context: VerbContext, kinds: KindRegistry) {
    this.#context = context;
    this.#kinds = kinds;
  }

  get(kind: ResourceName, { namespace = "", name }: ObjectName): JsonObject | undefined {
    return this.#context.store.get(groupResourceText(kind), objectKey(namespace, name))?.object;
  }

  list(kind: ResourceName, namespace?: string): readonly JsonObject[] {
    const prefix = namespace === undefined ? "" : `${namespace}/`;
    return this.#context.store
      .objects(groupResourceText(kind))
      .withPrefix(prefix)
      .map(({ object }) => object);
  }

  dependentsOf(uid: string): readonly DependentObject[] {
    return this.#context.store
      .dependentsOf(uid)
      .map(({ kind, stored }) => ({ kind: this.#resource(kind), object: stored.object }));
  }

  async create(kind: ResourceName, object: JsonObject, writer: string): Outcome {
    const target = this.#target(kind, object);
    if (target === undefined) return err(unknownPath());
    const admitted = admitBody(target, object);
    if (!admitted.ok) return admitted;
    return toObjectResult(await createObject(this.#context, target, admitted.value, createOptions(writer)));
  }

  async update(kind: ResourceName, object: JsonObject, writer: string): Outcome {
    return this.#change(kind, object, writer);
  }

  async updateStatus(kind: ResourceName, object: JsonObject, writer: string): Outcome {
    return this.#change(kind, object, writer, "status");
  }

  async delete(kind: ResourceName, { namespace, name }: ObjectName, options: DeleteOptions): Outcome {
    const target = this.#target(kind, { metadata: namespace === undefined ? {} : { namespace } });
    if (target === undefined) return err(unknownPath());
    return toObjectResult(await deleteObject(this.#context, target, name, { ...options, isDryRun: false }));
  }

  async writeSubresource(
    kind: ResourceName,
    { namespace = "", name }: ObjectName,
    subresource: "binding" | "finalize",
    body: JsonObject,
    writer: string,
  ): Outcome {
    const target = this.#target(kind, { metadata: { namespace } });
    if (target === undefined) return err(unknownPath());
    const write = subresource === "binding" ? bindPod : finalizeNamespace;
    return toObjectResult(await write(this.#context, target, name, body, createOptions(writer)));
  }

  onChange(listener: (change: ObjectChange) => void): () => void {
    return this.#context.store.onCommit(({ kind, change: { before, after, isDeletion } }) => {
      listener({
        kind: this.#resource(kind),
        ...(before === undefined ? {} : { previous: before.object }),
        ...(isDeletion ? {} : { object: after.object }),
      });
    });
  }

  kinds(): readonly ServedKind[] {
    return this.#kinds
      .all()
      .filter(({ isVirtual: isQuestion, sameObjectsAs }) => isQuestion !== true && sameObjectsAs === undefined);
  }

  async #change(kind: ResourceName, object: JsonObject, writer: string, subresource?: "status"): Outcome {
    const target = this.#target(kind, object);
    if (target === undefined) return err(unknownPath());
    const admitted = admitBody(target, object);
    if (!admitted.ok) return admitted;
    const change = {
      name: nameOf(object),
      next: () => admitted,
      ...(subresource === undefined ? {} : { subresource }),
    };
    return toObjectResult(await changeObject(this.#context, target, change, createOptions(writer)));
  }

  /** Controllers write in the storage version. */
  #target(name: ResourceName, object: JsonObject): Target | undefined {
    const kind = this.#kinds.named(name);
    const version = kind?.versions.find((one) => one.name === kind.storageVersion);
    if (kind === undefined || version === undefined) return undefined;
    const { namespace } = metadataOf(object);
    return { kind, version, namespace: kind.isNamespaced && typeof namespace === "string" ? namespace : "" };
  }

  /** The kind of a storage location; remembered when the kind is gone. */
  #resource(storeKind: string): ResourceName {
    const cached = this.#resources.get(storeKind);
    if (cached !== undefined) return cached;
    const found = this.#kinds.all().find((kind) => storeKindOf(kind) === storeKind && kind.sameObjectsAs === undefined);
    const [resource = "", ...group] = storeKind.split(".");
    const name =
      found === undefined ? { group: group.join("."), resource } : { group: found.group, resource: found.resource };
    this.#resources.set(storeKind, name);
    return name;
  }
}

function createOptions(manager: string): WriteOptions {
  return { manager, isDryRun: false, fieldValidation: "Ignore", isForced: true };
}

function toObjectResult(written: Result<{ readonly object: JsonObject }, Status>): Result<JsonObject, Status> {
  return written.ok ? ok(written.value.object) : written;
}
