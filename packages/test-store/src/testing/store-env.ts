import type { Entries, Environment, ObjectKey, StoreNode, Value } from "../index.ts";

export interface Layout {
  /** Members, the same of each partition. */
  readonly nodes?: readonly number[];
  readonly partitions?: number;
  readonly type?: string;
  readonly options?: Readonly<Record<string, string>>;
  /** Whether only the node of the first replica initialises (T3). */
  readonly guarded?: boolean;
  readonly env?: Environment;
}

/** The environment of a node as the class runtime manager renders it. */
export function storeEnv(id: number, layout: Layout = {}): Readonly<Record<string, string>> {
  const { nodes = [1, 2, 3], partitions = 1, type = "raft", guarded = false, env } = layout;
  const collection = {
    name: "shop.Cart",
    partition_count: partitions,
    replica_count: nodes.length,
    shard_assignments: Array.from({ length: partitions }, (_, partition) => {
      const shards = nodes.map((_node, copy) => partition * nodes.length + copy + 1);
      return { primary: guarded ? nodes[0] : shards[0], replica: nodes, shard_ids: shards };
    }),
    shard_type: type,
    options: { ...layout.options, ...(guarded && { raft_init_leader_only: "true" }) },
    invocations: null,
  };
  return {
    ODGM_NODE_ID: String(id),
    ODGM_MEMBERS: nodes.join(","),
    ODGM_HTTP_PORT: "8080",
    ODGM_COLLECTION: JSON.stringify([collection]),
    ...(env as Record<string, string> | undefined),
  };
}

export function value(content: string): Value {
  return { data: new TextEncoder().encode(content), type: 0 };
}

export function text(stored: Value | undefined): string | undefined {
  return stored && new TextDecoder().decode(stored.data);
}

export function entries(content: string): Entries {
  return new Map([["n", value(content)]]);
}

export async function setText(node: StoreNode, key: ObjectKey, content: string): Promise<void> {
  await node.set(key, entries(content));
}
