import type { Session } from "../../session/session.ts";
import {
  CONFORMANCE_CHECKS,
  removeObjects,
  RESERVED_PREFIX,
  WRITE_CHECK,
  type ConformanceTarget,
} from "../../state-store/conformance.ts";
import type { StoreClient, StoreShard } from "../../state-store/store-client.ts";

/** Runs a check, records its result, and returns whether it passed. */
export type RunCheck = (check: string, find: () => Promise<string>) => Promise<boolean>;

interface StateStore {
  readonly address: string;
  readonly collection?: string;
  readonly partition?: number;
}

/** Checks that a node behaves as the platform expects. Leaves no object behind. */
export async function checkStateStore(session: Session, store: StateStore, check: RunCheck): Promise<void> {
  const client = await session.environment.openStore(store.address);
  try {
    let shard: StoreShard | undefined;
    await check("shards", async () => {
      const shards = await client.shards();
      shard = selectShard(shards, store);
      return describeShards(shards, shard);
    });
    if (shard !== undefined) await checkPartition(session, client, shard, check);
  } finally {
    client.close();
  }
}

async function checkPartition(
  session: Session,
  client: StoreClient,
  { collection, partition }: StoreShard,
  check: RunCheck,
): Promise<void> {
  const run = session.environment.clock.now().toString(36);
  const target: ConformanceTarget = { client, collection, partition, prefix: `${RESERVED_PREFIX}${run}.` };
  let isWritable = true;
  for (const each of CONFORMANCE_CHECKS) {
    if (each.writes && !isWritable) continue;
    const passed = await check(each.name, () => each.run(target));
    if (each === WRITE_CHECK) isWritable = passed;
  }
  await check("clean-up", async () => `${await removeObjects(target)} objects of this check deleted`);
}

/** The partition to check: the stated one, else the first. Throws when the node does not hold it. */
function selectShard(shards: readonly StoreShard[], { address, collection, partition }: StateStore): StoreShard {
  if (shards.length === 0) {
    throw new Error(`${address} holds no partition: its ODGM_COLLECTION is incomplete, or its shards did not appear`);
  }
  const found = inOrder(shards).find(
    (shard) =>
      (collection === undefined || shard.collection === collection) &&
      (partition === undefined || shard.partition === partition),
  );
  if (found !== undefined) return found;
  const wanted = [collection ?? "any collection", ...(partition === undefined ? [] : [`partition ${partition}`])];
  throw new Error(`${address} does not hold ${wanted.join(" ")}; it holds ${listShards(shards)}`);
}

function describeShards(shards: readonly StoreShard[], { collection, partition }: StoreShard): string {
  const objects = shards.reduce((sum, shard) => sum + shard.objects, 0n);
  return `${listShards(shards)}; ${objects} objects; checking ${collection} partition ${partition}`;
}

function listShards(shards: readonly StoreShard[]): string {
  const byCollection = Map.groupBy(inOrder(shards), ({ collection }) => collection);
  return [...byCollection]
    .map(([collection, own]) => `${collection} ${own.map(({ partition }) => partition).join(",")}`)
    .join("; ");
}

function inOrder(shards: readonly StoreShard[]): readonly StoreShard[] {
  return shards.toSorted((a, b) => a.collection.localeCompare(b.collection) || a.partition - b.partition);
}
