import { failedPrecondition } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { Collection, SecretCipher, Unreadable } from "@oaas/storage";
import type { StoredCluster } from "../stores/cluster-store.ts";

/**
 * Encrypts the stored tokens that are in clear or encrypted with an earlier key.
 *
 * Throws when a token cannot be decrypted, before anything is written: with the right key nothing is lost.
 */
export async function encryptStoredTokens(
  stored: Pick<Collection<StoredCluster>, "list" | "refresh">,
  cipher: SecretCipher | undefined,
  logger: Logger,
): Promise<void> {
  const locked = await lockedClusters(stored);
  if (locked.length > 0) throw keyFault(locked);
  if (cipher === undefined) return;
  const records = await stored.refresh();
  if (records > 0) logger.info("encrypted stored cluster tokens", { records, key_id: cipher.keyId });
}

/** The warning about tokens that are stored in clear, because no key is configured. */
export function clearTokenWarnings(clusters: readonly string[]): readonly string[] {
  if (clusters.length === 0) return [];
  const names = clusters.join(", ");
  const what = clusters.length === 1 ? `the token of cluster ${names} is` : `the tokens of clusters ${names} are`;
  return [`${what} stored in clear: set STORAGE_ENCRYPTION_KEY_FILE and restart`];
}

async function lockedClusters(stored: Pick<Collection<StoredCluster>, "list">): Promise<readonly Unreadable[]> {
  const locked: Unreadable[] = [];
  let after: string | undefined;
  do {
    const page = await stored.list(after === undefined ? {} : { after });
    locked.push(...page.unreadable.filter(({ fault }) => fault.code === "OAAS_STORE_KEY_MISSING"));
    after = page.next;
  } while (after !== undefined);
  return locked;
}

function keyFault(locked: readonly Unreadable[]) {
  const clusters = locked.map(({ id }) => id).join(", ");
  const keys = [...new Set(locked.map(({ fault }) => String(fault.context["keyId"])))].join(", ");
  return failedPrecondition(
    "STORAGE_ENCRYPTION_KEY",
    `STORAGE_ENCRYPTION_KEY_FILE: stored tokens (clusters ${clusters}) are encrypted with the key ${keys}, which is not configured; add that key as another line. Nothing was changed`,
    { code: "OAAS_STORE_KEY_MISSING" },
  );
}
