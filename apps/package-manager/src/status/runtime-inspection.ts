import { notFound } from "@oaas/foundation";
import type { ClusterName, RuntimeConditions, RuntimeObject, RuntimePods, RuntimeSignals, UnitId } from "@oaas/models";
import type { InspectionGateway, ObjectQuery, SignalQuery, UnitCallOptions } from "../ports.ts";
import type { Call, RuntimeInspection, StatusReader } from "../use-cases.ts";

export interface RuntimeInspectionDeps {
  readonly status: Pick<StatusReader, "locate">;
  readonly gateway: InspectionGateway;
}

/** Reads about one class runtime through the class runtime manager of its cluster. */
export class ClusterRuntimeInspection implements RuntimeInspection {
  readonly #deps: RuntimeInspectionDeps;

  constructor(deps: RuntimeInspectionDeps) {
    this.#deps = deps;
  }

  signals(id: UnitId, query: SignalQuery, cluster?: ClusterName, call?: Call): Promise<RuntimeSignals> {
    return this.#read(id, cluster, call, (name, options) => this.#deps.gateway.signals(name, id, query, options));
  }

  object(id: UnitId, query: ObjectQuery, cluster?: ClusterName, call?: Call): Promise<RuntimeObject> {
    return this.#read(id, cluster, call, (name, options) => this.#deps.gateway.object(name, id, query, options));
  }

  pods(id: UnitId, cluster?: ClusterName, call?: Call): Promise<RuntimePods> {
    return this.#read(id, cluster, call, (name, options) => this.#deps.gateway.pods(name, id, options));
  }

  conditions(id: UnitId, cluster?: ClusterName, call?: Call): Promise<RuntimeConditions> {
    return this.#read(id, cluster, call, (name, options) => this.#deps.gateway.conditions(name, id, options));
  }

  async #read<T>(
    id: UnitId,
    cluster: ClusterName | undefined,
    call: Call | undefined,
    read: (cluster: ClusterName, options: UnitCallOptions) => Promise<T>,
  ): Promise<T> {
    const { cluster: name, namespace } = await this.#deps.status.locate(id, cluster);
    if (name === undefined) throw notFound("class runtime", id);
    const { signal } = call ?? {};
    return read(name, { namespace, ...(signal === undefined ? {} : { signal }) });
  }
}
