/** One copy of a partition: the node that holds it and the id of its shard. */
export interface Member {
  readonly node: number;
  readonly shard: number;
}

/** One entry of `ODGM_COLLECTION`, with the members of each partition. */
export interface Collection {
  readonly name: string;
  readonly type: ShardType;
  readonly options: Readonly<Record<string, string>>;
  readonly routes: Readonly<Record<string, FunctionRoute>>;
  readonly partitions: readonly Partition[];
}

export interface Partition {
  readonly members: readonly Member[];
  readonly primary: number | undefined;
}

export type ShardType = "raft" | "mst" | "none";

/** How a function of a collection is invoked. */
export interface FunctionRoute {
  readonly url: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads `ODGM_COLLECTION`. Returns the problem of an incomplete one: the store then stays alive without shards.
 *
 * Without `shard_assignments`, copies go round the members: partition 0 starts at the first, partition 1 at the second.
 */
export function readCollections(text: string, members: readonly number[]): readonly Collection[] | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return "ODGM_COLLECTION: is not JSON";
  }
  if (!Array.isArray(parsed)) return "ODGM_COLLECTION: is not a list";
  const collections: Collection[] = [];
  const shards = { last: 0 };
  for (const [index, entry] of parsed.entries()) {
    const read = readCollection(entry, members, shards);
    if (typeof read === "string") return `ODGM_COLLECTION[${index}].${read}`;
    if (collections.some(({ name }) => name === read.name)) return `ODGM_COLLECTION[${index}].name: is used twice`;
    collections.push(read);
  }
  return collections;
}

function readCollection(entry: unknown, nodes: readonly number[], shards: { last: number }): Collection | string {
  if (!isObject(entry)) return "name: is missing";
  const { name, partition_count: count, replica_count: copies, shard_assignments: assignments } = entry;
  if (typeof name !== "string") return "name: is missing";
  if (!isCount(count)) return "partition_count: is not a number";
  if (!isCount(copies)) return "replica_count: is not a number";
  if (!Array.isArray(assignments)) return "shard_assignments: is missing";
  if (!isObject(entry["options"])) return "options: is missing";
  if (typeof entry["shard_type"] !== "string") return "shard_type: is missing";
  const partitions: Partition[] = [];
  for (let index = 0; index < count; index += 1) {
    const read =
      assignments.length === 0 ? goRound(nodes, index, copies, shards.last) : readAssignment(assignments[index]);
    if (read === undefined) return `shard_assignments[${index}]: is missing or incomplete`;
    partitions.push(read);
    shards.last = Math.max(shards.last, ...read.members.map(({ shard }) => shard));
  }
  return {
    name,
    type: shardTypeOf(entry["shard_type"]),
    options: Object.fromEntries(Object.entries(entry["options"]).map(([key, value]) => [key, String(value)])),
    routes: readRoutes(entry["invocations"]),
    partitions,
  };
}

function readAssignment(entry: unknown): Partition | undefined {
  if (!isObject(entry)) return undefined;
  const { replica: nodes, shard_ids: shards, primary } = entry;
  if (!isNumbers(nodes) || !isNumbers(shards) || nodes.length === 0) return undefined;
  return {
    members: shards.map((shard, index) => ({ shard, node: nodes[index % nodes.length] ?? 0 })),
    primary: typeof primary === "number" ? primary : undefined,
  };
}

function goRound(nodes: readonly number[], partition: number, copies: number, lastShard: number): Partition {
  const members = Array.from({ length: copies }, (_, copy) => ({
    node: nodes[(partition + copy) % nodes.length] ?? 0,
    shard: lastShard + 1 + copy,
  }));
  return { members, primary: members[0]?.shard };
}

/** `basic`, `single`, `none` and unknown types keep one separate copy in each node. */
function shardTypeOf(text: string): ShardType {
  return text === "raft" || text === "mst" ? text : "none";
}

function readRoutes(invocations: unknown): Readonly<Record<string, FunctionRoute>> {
  const routes = isObject(invocations) && isObject(invocations["fn_routes"]) ? invocations["fn_routes"] : {};
  return Object.fromEntries(
    Object.entries(routes).flatMap(([name, route]) =>
      isObject(route) && typeof route["url"] === "string" ? [[name, { url: route["url"] }]] : [],
    ),
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number" && Number.isInteger(each));
}
