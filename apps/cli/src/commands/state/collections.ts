import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** A collection of a deployment. */
export interface Collection {
  readonly name: string;
  readonly partitions: number;
}

/** The collections of a deployment. */
export async function readCollections(session: Session, key: string): Promise<readonly Collection[]> {
  const { value } = await session.call("listStateCollections", { parameters: { key } });
  return value.map(({ name, partition_count: partitions }) => ({ name, partitions }));
}

/** The named collection of a deployment, or its only one. */
export async function findCollection(session: Session, key: string, named: string | undefined): Promise<Collection> {
  const collections = await readCollections(session, key);
  const found = named === undefined ? collections : collections.filter(({ name }) => name === named);
  const [only] = found;
  if (found.length === 1 && only !== undefined) return only;
  const names = collections.map(({ name }) => name).join(", ");
  if (named !== undefined) throw new UsageError(`${key} has no collection "${named}"`, `use one of ${names}`);
  throw new UsageError(`${key} has several collections`, `name one with --collection: ${names}`);
}
