import { isFault, retry } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { mergeSorted } from "../../state-copy/object-streams.ts";
import type { Entries, ListedObject, ObjectContent, Place, StateTarget } from "../../state-copy/stored-state.ts";
import type { Session } from "../../session/session.ts";
import { readCollections } from "./collections.ts";

const PAGE = 500;
/** Attempts of one request; with their delays about a minute. */
const RETRIES = 8;
/** One client needs no jitter. */
const NO_JITTER = { next: () => 0.5 };

/** The state of a deployment, through the package manager. */
export async function openDeployment(session: Session, key: string): Promise<StateTarget> {
  const collections = await readCollections(session, key);
  return {
    name: key,
    collections,
    objects: (collection) => {
      const partitions = collections.find(({ name }) => name === collection)?.partitions ?? 0;
      const streams = Array.from({ length: partitions }, (_, partition) =>
        listPartition(session, key, collection, partition),
      );
      return mergeSorted(streams);
    },
    set: async (collection, at, entries: Entries) => {
      const parameters = parametersOf(key, collection, at);
      await retried(session, () => session.call("setStateObject", { parameters, body: { entries } }));
    },
    delete: async (collection, at) => {
      const parameters = parametersOf(key, collection, at);
      await retried(session, () => undefinedIfMissing(session.call("deleteStateObject", { parameters })));
    },
  };
}

async function* listPartition(
  session: Session,
  key: string,
  collection: string,
  partition: number,
): AsyncGenerator<ListedObject> {
  let token: string | null = null;
  do {
    const query = { collection, partition, limit: PAGE, fresh: true, ...(token === null ? {} : { page_token: token }) };
    const page: Reply<"listStateObjects"> = await retried(session, () =>
      session.call("listStateObjects", { parameters: { key }, query }),
    );
    for (const { id, version } of page.value) {
      const at = { partition, id };
      yield { ...at, version, read: () => readObject(session, key, collection, at) };
    }
    token = page.nextPageToken;
  } while (token !== null);
}

async function readObject(
  session: Session,
  key: string,
  collection: string,
  at: Place,
): Promise<ObjectContent | undefined> {
  const parameters = parametersOf(key, collection, at);
  const reply = await retried(session, () => undefinedIfMissing(session.call("getStateObject", { parameters })));
  return reply && { version: reply.value.version, entries: reply.value.entries };
}

function parametersOf(key: string, collection: string, { partition, id }: Place): Record<string, string> {
  return { key, collection, partition: String(partition), object: id };
}

/** Every request may be repeated: reads change nothing, and writes replace or delete a whole object. */
function retried<T>({ environment }: Session, work: () => Promise<T>): Promise<T> {
  const { timers, signal } = environment;
  return retry({ timers, random: NO_JITTER, retries: RETRIES, signal }, work);
}

async function undefinedIfMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}
