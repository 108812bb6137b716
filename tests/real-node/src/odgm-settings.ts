/** How a function of a collection is invoked. */
export interface FunctionRoute {
  readonly url: string;
  readonly stateless: boolean;
  readonly standby: boolean;
  readonly active_group: readonly number[];
}

/** One entry of `ODGM_COLLECTION`. */
export interface Collection {
  readonly name: string;
  readonly partition_count: number;
  readonly replica_count: number;
  readonly shard_type: string;
  readonly shard_assignments: readonly ShardAssignment[];
  readonly invocations: { readonly fn_routes: Readonly<Record<string, FunctionRoute>> } | null;
}

interface ShardAssignment {
  readonly primary: number | null;
  readonly replica: readonly number[];
  readonly shard_ids: readonly number[];
}

export interface OdgmSettings {
  readonly nodeId: bigint;
  readonly members: readonly bigint[];
  readonly port: number;
  readonly classId: string;
  readonly collections: readonly Collection[];
}

const SHARD_TYPES = new Set(["raft", "mst", "none", "basic", "single"]);
const NUMBER = /^\d+$/;

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the environment as the state store of the earlier implementation does. Lists every violation of the contract. */
export function readOdgmSettings(env: Environment): OdgmSettings | { readonly violations: readonly string[] } {
  const violations: string[] = [];
  const check = (holds: boolean, text: string): void => void (holds || violations.push(text));
  const node = env["ODGM_NODE_ID"] ?? "";
  check(NUMBER.test(node), `ODGM_NODE_ID: "${node}" is not a number`);
  const members = (env["ODGM_MEMBERS"] ?? "").split(",");
  check(
    members.every((each) => NUMBER.test(each)),
    `ODGM_MEMBERS: "${members.join(",")}" has an entry that is not a number`,
  );
  check(members.includes(node), `ODGM_MEMBERS: "${members.join(",")}" does not contain the node ${node}`);
  check(new Set(members).size === members.length, "ODGM_MEMBERS: has duplicates");
  const port = Number(env["ODGM_HTTP_PORT"] ?? 8080);
  check(Number.isInteger(port) && port > 0 && port < 65_536, `ODGM_HTTP_PORT: ${port} is not a port`);
  const classId = env["OPRC_CLS_ID"] ?? "";
  check(/^[^.]+(\.[^.]+)+$/.test(classId), `OPRC_CLS_ID: "${classId}" is not package.Class`);
  const collections = parseCollections(env["ODGM_COLLECTION"], check);
  for (const [index, each] of collections.entries()) checkCollection(each, `ODGM_COLLECTION[${index}]`, check);
  const shards = collections.flatMap((each) => (each.shard_assignments ?? []).flatMap((one) => one.shard_ids ?? []));
  check(new Set(shards).size === shards.length, "ODGM_COLLECTION: a shard id is used twice");
  if (violations.length > 0) return { violations };
  return { nodeId: BigInt(node), members: members.map(BigInt), port, classId, collections };
}

type Check = (holds: boolean, text: string) => void;

function parseCollections(text: string | undefined, check: Check): readonly Collection[] {
  try {
    const parsed: unknown = JSON.parse(text ?? "");
    check(Array.isArray(parsed) && parsed.length > 0, "ODGM_COLLECTION: is not a list with an entry");
    return Array.isArray(parsed) ? (parsed as readonly Collection[]) : [];
  } catch {
    check(false, "ODGM_COLLECTION: is not JSON");
    return [];
  }
}

function checkCollection(each: Collection, at: string, check: Check): void {
  const { partition_count: partitions, replica_count: replicas, shard_assignments: assignments } = each;
  check(typeof each.name === "string" && each.name !== "", `${at}.name: is missing`);
  check(
    Number.isInteger(partitions) && partitions > 0,
    `${at}.partition_count: ${partitions} is not a positive integer`,
  );
  check(Number.isInteger(replicas) && replicas > 0, `${at}.replica_count: ${replicas} is not a positive integer`);
  check(SHARD_TYPES.has(each.shard_type), `${at}.shard_type: "${each.shard_type}" is unknown`);
  check(Array.isArray(assignments), `${at}.shard_assignments: is not a list`);
  const list = Array.isArray(assignments) ? assignments : [];
  check(
    list.length === 0 || list.length === partitions,
    `${at}.shard_assignments: ${list.length} for ${partitions} partitions`,
  );
  for (const [index, { primary, replica, shard_ids: shards }] of list.entries()) {
    const path = `${at}.shard_assignments[${index}]`;
    check(replica.length === replicas, `${path}.replica: ${replica.length} nodes for ${replicas} replicas`);
    check(shards.length === replicas, `${path}.shard_ids: ${shards.length} shards for ${replicas} replicas`);
    check(primary === null || shards.includes(primary), `${path}.primary: ${primary} is not one of its shards`);
    check([...replica, ...shards].every(Number.isSafeInteger), `${path}: has an id that is not a number`);
  }
  if (each.invocations === null) return;
  for (const [name, route] of Object.entries(each.invocations?.fn_routes ?? {})) {
    const path = `${at}.invocations.fn_routes.${name}`;
    const isUrl = /^https?:\/\/[^/]+\.svc\.[^/]+\/$/.test(route.url) || route.url.startsWith("wasm://");
    check(isUrl, `${path}.url: "${route.url}" is not http://SERVICE.NAMESPACE.svc.DOMAIN/`);
    check(typeof route.stateless === "boolean", `${path}.stateless: is not a boolean`);
    check(typeof route.standby === "boolean", `${path}.standby: is not a boolean`);
    check(Array.isArray(route.active_group), `${path}.active_group: is not a list`);
  }
}
