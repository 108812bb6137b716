import type { ObjectPage } from "@oaas/contracts/grpc";
export type StoreEntries = Readonly<Record<string, Uint8Array>>;

export interface StoreKey {
  readonly collection: string;
  readonly partition: number;
  readonly id: string;
}

export interface StoreShard {
  readonly collection: string;
  readonly partition: number;
  readonly shard: bigint;
  readonly objects: bigint;
}

/** One node of a state store, by its gRPC API. Failed calls throw a `Fault`. */
export interface StoreClient {
  shards(): Promise<readonly StoreShard[]>;
  /** Names of the capabilities that the store has. */
  capabilities(): Promise<readonly string[]>;
  get(key: StoreKey): Promise<StoreEntries>;
  set(key: StoreKey, entries: StoreEntries): Promise<void>;
  merge(key: StoreKey, entries: StoreEntries): Promise<StoreEntries>;
  delete(key: StoreKey): Promise<void>;
  getValue(
    key: StoreKey,
    entry: string,
  ): Promise<{ readonly value: Uint8Array | undefined; readonly version: bigint | undefined }>;
  setValue(key: StoreKey, entry: string, value: Uint8Array): Promise<void>;
  deleteValue(key: StoreKey, entry: string): Promise<void>;
  batchSetValues(
    key: StoreKey,
    batch: { readonly values: StoreEntries; readonly deleteKeys: readonly string[]; readonly expectedVersion: bigint },
  ): Promise<void>;
  list(
    collection: string,
    partition: number,
    page: { readonly prefix: string; readonly limit: number; readonly cursor?: Uint8Array },
  ): Promise<ObjectPage>;
}

/** A client with the connection behind it. */
export interface StoreConnection extends StoreClient {
  close(): void;
}
