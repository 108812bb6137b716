/**
 * A minimal state store for tests. It speaks the gRPC contract of ODGM: objects in memory, Stats, Capabilities, and calls of
 * functions over their routes. It starts only if its environment follows the contract.
 */
import process from "node:process";
import { oprcData, oprcInvoke } from "@oaas/contracts/grpc";
import { invalidArgument, notFound, pathOf, ROOT_PATH } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { bindService, listenOnePort, RpcChannel, RpcServer } from "@oaas/rpc";
import { readOdgmSettings, type Collection, type OdgmSettings } from "../src/odgm-settings.ts";

type Entries = NonNullable<oprcData.ObjData["entries"]>;

interface Stored {
  entries: Entries;
  version: bigint;
}

const read = readOdgmSettings(process.env);
if ("violations" in read) {
  for (const violation of read.violations) process.stderr.write(`${violation}\n`);
  process.exit(1);
}
const settings: OdgmSettings = read;
const objects = new Map<string, Stored>();
const functions = new Map<string, RpcChannel>();

const reject = (field: string, message: string): never => {
  throw invalidArgument("the request", [{ path: pathOf(ROOT_PATH, field), message }]);
};

/** The collection of a class: its own, or the only one. */
function collectionOf(cls: string): Collection {
  const found =
    settings.collections.find(({ name }) => name === cls) ??
    (cls === settings.classId ? settings.collections[0] : undefined);
  return found ?? reject("cls_id", `unknown collection ${cls}`);
}

function keyOf(request: { clsId: string; partitionId: number; objectId?: string | undefined }): string {
  const { name, partition_count: partitions } = collectionOf(request.clsId);
  const { partitionId, objectId = "" } = request;
  if (partitionId < 0 || partitionId >= partitions) reject("partition_id", `${name} has ${partitions} partitions`);
  if (objectId === "") reject("object_id", "is missing");
  return `${name}/${partitionId}/${objectId}`;
}

function stored(key: string): Stored {
  const found = objects.get(key);
  if (found === undefined) throw notFound("object", key);
  return found;
}

function put(key: string, entries: Entries): void {
  objects.set(key, { entries, version: (objects.get(key)?.version ?? 0n) + 1n });
}

const data = bindService(oprcData.DataService, {
  set: async (request) => {
    put(keyOf(request), request.object?.entries ?? {});
    return {};
  },
  merge: async (request) => {
    const key = keyOf(request);
    const entries = { ...objects.get(key)?.entries, ...request.object?.entries };
    put(key, entries);
    return { obj: { entries } };
  },
  get: async (request) => ({
    obj: {
      metadata: { clsId: request.clsId, partitionId: request.partitionId, objectId: request.objectId ?? "" },
      entries: stored(keyOf(request)).entries,
    },
  }),
  delete: async (request) => {
    objects.delete(keyOf(request));
    return {};
  },
  setValue: async (request) => {
    const key = keyOf(request);
    const { key: name = "", value } = request;
    if (name === "" || value === undefined) return reject("key", "key and value are required");
    put(key, { ...objects.get(key)?.entries, [name]: value });
    return {};
  },
  getValue: async (request) => {
    const { entries, version } = stored(keyOf(request));
    const value = entries[request.key ?? ""];
    if (value === undefined) throw notFound("entry", request.key ?? "");
    return { value, objectVersion: version, key: request.key ?? "" };
  },
  stats: async () => ({
    shards: settings.collections.flatMap((each) =>
      Array.from({ length: each.partition_count }, (_, partition) => ({
        collection: each.name,
        partitionId: partition,
        shardId: BigInt(each.shard_assignments[partition]?.shard_ids[0] ?? partition),
        count: BigInt([...objects.keys()].filter((key) => key.startsWith(`${each.name}/${partition}/`)).length),
      })),
    ),
  }),
  capabilities: async () => ({ stringIds: true, stringEntryKeys: true }),
});

/** The function of a route, over the Service of the function. */
function functionOf(cls: string, name: string): RpcChannel {
  const route = collectionOf(cls).invocations?.fn_routes[name];
  if (route === undefined) return reject("fn_id", `${cls} has no route to ${name}`);
  const address = `${new URL(route.url).hostname}:${new URL(route.url).port || 80}`;
  let channel = functions.get(address);
  if (channel === undefined) {
    channel = new RpcChannel({ name, address, clock: realAmbient.clock, deadlineMs: 10_000 });
    functions.set(address, channel);
  }
  return channel;
}

const invoke = bindService(oprcInvoke.OprcFunction, {
  invokeFn: (request, { signal }) =>
    functionOf(request.clsId, request.fnId).client(oprcInvoke.OprcFunction).invokeFn(request, { signal }),
  invokeObj: (request, { signal }) =>
    functionOf(request.clsId, request.fnId).client(oprcInvoke.OprcFunction).invokeObj(request, { signal }),
});

const port = await listenOnePort({
  host: "0.0.0.0",
  port: settings.port,
  rpc: new RpcServer({ services: [data, invoke], ambient: realAmbient }),
  http: (_, response) => void response.writeHead(404).end(),
  timers: realAmbient.timers,
});
process.stdout.write(
  `node ${settings.nodeId} of ${settings.members.join(",")} serves ${settings.collections.map(({ name }) => name).join(", ")} on port ${port.port}\n`,
);
process.once("SIGTERM", () => {
  process.stdout.write("stopping\n");
  void port.close(2_000).then(() => process.exit(0));
});
