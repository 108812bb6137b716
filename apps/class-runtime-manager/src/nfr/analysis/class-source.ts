import type { ClassRuntime, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault } from "@oaas/foundation";
import { isBeingDeleted, type KubeObject, type Stored } from "@oaas/kube-core";
import type { InformerView, KubeClient } from "@oaas/kube-runtime";
import type { QueryOverrides } from "@oaas/nfr/queries";
import type { ChildCache } from "../../controller/children/child-cache.ts";
import type { PodView } from "../../controller/cluster/pod-view.ts";
import type { ClassKind } from "../../controller/kinds/class-kind.ts";
import { ANNOTATIONS } from "../../mapping/object-identity.ts";
import { ownerLabelValue } from "../../templates/index.ts";
import { measuredComponents } from "../components/measured-component.ts";
import type { MeasuredClass } from "./analyzer.ts";

/** Owner of the status fields of the analyzer. */
const ANALYZER_FIELD_MANAGER = "oprc-crm-analyzer";

export interface ClassSourceOptions {
  /** Its writes are sent only by the leader. */
  readonly client: KubeClient;
  readonly children: Pick<ChildCache, "childrenOf">;
  readonly pods: Pick<PodView, "podsOf">;
  readonly maxReplicas: number;
  /** The queries of an environment; without a name, of the default environment. */
  readonly queriesOf?: (namespace: string, environment: string | undefined) => QueryOverrides | undefined;
}

/** The classes of one kind, as the analyzer measures them. */
export class ClassSource<T extends KubeObject> {
  readonly #options: ClassSourceOptions;
  readonly #kind: ClassKind<T>;
  readonly #informer: InformerView<T>;
  /** Parsing takes longer than the analysis of a class. */
  readonly #parsed = new Map<string, { readonly generation: number | undefined; readonly class: ClassRuntime }>();

  constructor(kind: ClassKind<T>, informer: InformerView<T>, options: ClassSourceOptions) {
    this.#kind = kind;
    this.#informer = informer;
    this.#options = options;
  }

  *list(): Generator<MeasuredClass> {
    const seen = new Set<string>();
    for (const object of this.#informer.cache.list()) {
      if (isBeingDeleted(object)) continue;
      seen.add(object.metadata.uid);
      const parsed = this.#parse(object);
      if (parsed !== undefined) yield this.#measured(object, parsed);
    }
    for (const uid of this.#parsed.keys()) if (!seen.has(uid)) this.#parsed.delete(uid);
  }

  /** Undefined for an invalid class, which has a condition of the lifecycle. */
  #parse(object: Stored<T>): ClassRuntime | undefined {
    const { uid, generation } = object.metadata;
    const known = this.#parsed.get(uid);
    if (known !== undefined && known.generation === generation) return known.class;
    const read = this.#kind.read(object);
    if (!read.ok) return undefined;
    this.#parsed.set(uid, { generation, class: read.value });
    return read.value;
  }

  #measured(object: Stored<T>, parsed: ClassRuntime): MeasuredClass {
    const { children, pods, maxReplicas, queriesOf } = this.#options;
    const { uid, namespace = "", name, annotations } = object.metadata;
    const { enforcement = parsed.spec.nfr?.enforcement } = parsed.spec;
    const mode = annotations?.[ANNOTATIONS.enforcement] ?? enforcement?.mode;
    const isMeasured = mode !== "off";
    return {
      object,
      class: parsed,
      status: this.#kind.statusOf(object),
      isMeasured,
      components: isMeasured
        ? measuredComponents({
            class: parsed,
            uid,
            children: children.childrenOf(uid).map((child) => child.object),
            pods: pods.podsOf(namespace, ownerLabelValue(name)),
            maxReplicas,
            queries: queriesOf?.(namespace, parsed.spec.target_environment),
          })
        : [],
      writeStatus: (status, signal) => this.#write(object, status, signal),
    };
  }

  async #write(object: Stored<T>, status: ClassRuntimeStatus, signal: AbortSignal): Promise<boolean> {
    const { apiVersion, kind, metadata } = object;
    const { name, namespace, resourceVersion } = metadata;
    const manifest = {
      apiVersion,
      kind,
      // With the version: another class may have this name now. A conflict is resolved by the next tick.
      metadata: { name, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
      status: this.#kind.encodeStatus(status),
    };
    try {
      await this.#options.client.resource(this.#kind.type).apply(manifest as unknown as T, {
        fieldManager: ANALYZER_FIELD_MANAGER,
        force: true,
        subresource: "status",
        signal,
      });
      return true;
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (fault.kind === "conflict" || fault.kind === "not-found") return false;
      throw fault;
    }
  }
}
