import { notFound } from "@oaas/foundation";
import {
  StoreRestartState,
  type ClusterName,
  type MissingShard,
  type StateStoreStatus,
  type UnitId,
} from "@oaas/models";
import type { RestartGrant } from "../../src/ports.ts";

/** One node of a state store. */
interface FakeNode {
  readonly nodeId: number;
  isOutdated: boolean;
  /** Repairs a missing shard by a restart. */
  missing: MissingShard[];
  /** The turn in which it restarts. */
  restartingIn: string | undefined;
}

interface FakePart {
  readonly nodes: FakeNode[];
  /** Turns that were granted before. */
  readonly turns: Set<string>;
  writable: boolean | undefined;
}

/** Class runtime managers that restart the nodes of a state store by turns. They outlive the processes of a test. */
export class FakeStateStores {
  readonly #parts = new Map<string, FakePart>();
  /** Accepted grants, in order. */
  readonly restarts: { readonly cluster: string; readonly nodeId: number; readonly turnId: string }[] = [];
  /** The largest number of nodes that restarted at the same time. */
  mostAtOnce = 0;
  /** Whether restarting nodes come back with `finishRestarts`. */
  isStuck = false;

  add(cluster: string, nodeIds: readonly number[]): void {
    const nodes = nodeIds.map((nodeId) => ({ nodeId, isOutdated: false, missing: [], restartingIn: undefined }));
    this.#parts.set(cluster, { nodes, turns: new Set(), writable: true });
  }

  part(cluster: string): FakePart {
    const part = this.#parts.get(cluster);
    if (part === undefined) throw notFound("state store", cluster);
    return part;
  }

  /** Every node has an outdated template. */
  outdate(): void {
    for (const { nodes } of this.#parts.values()) for (const node of nodes) node.isOutdated = true;
  }

  get outdated(): number {
    return [...this.#parts.values()].flatMap(({ nodes }) => nodes).filter(({ isOutdated }) => isOutdated).length;
  }

  status(cluster: ClusterName): StateStoreStatus | undefined {
    const part = this.#parts.get(cluster);
    if (part === undefined) return undefined;
    const { nodes, writable } = part;
    const restarting = nodes.filter(({ restartingIn }) => restartingIn !== undefined);
    const waiting = nodes.filter(({ isOutdated, missing }) => isOutdated || missing.length > 0);
    const state = restarting.length > 0 ? StoreRestartState.restarting : StoreRestartState.waitingForTurn;
    return {
      ready: restarting.length === 0,
      desiredReplicas: nodes.length,
      readyReplicas: nodes.length - restarting.length,
      shardType: "raft",
      ...(writable === undefined ? {} : { writable }),
      missingShards: nodes.flatMap(({ missing }) => missing),
      ...(waiting.length === 0
        ? {}
        : {
            restart: {
              state,
              reason: "TemplateChanged",
              message: `${waiting.length} nodes wait`,
              nodes: waiting.map(({ nodeId }) => nodeId),
            },
          }),
    };
  }

  grant(cluster: ClusterName, _unit: UnitId, { nodeId, turnId }: RestartGrant): boolean {
    const part = this.part(cluster);
    const node = part.nodes.find((one) => one.nodeId === nodeId);
    if (node?.restartingIn === turnId) return true;
    if (node === undefined || part.turns.has(turnId)) return false;
    part.turns.add(turnId);
    if (!node.isOutdated && node.missing.length === 0) return false;
    node.restartingIn = turnId;
    this.restarts.push({ cluster, nodeId, turnId });
    const atOnce = [...this.#parts.values()].flatMap(({ nodes }) => nodes).filter((one) => one.restartingIn).length;
    this.mostAtOnce = Math.max(this.mostAtOnce, atOnce);
    return true;
  }

  /** Restarting nodes are back with all their shards. */
  finishRestarts(): void {
    if (this.isStuck) return;
    for (const { nodes } of this.#parts.values()) {
      for (const node of nodes.filter(({ restartingIn }) => restartingIn !== undefined)) {
        Object.assign(node, { isOutdated: false, missing: [], restartingIn: undefined });
      }
    }
  }
}
