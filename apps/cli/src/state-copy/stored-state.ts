/** One entry of an object, as the REST API represents it. */
export interface EntryForm {
  readonly json?: unknown;
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
  readonly type?: string | undefined;
}

export type Entries = Readonly<Record<string, EntryForm>>;

/** A collection and how it is divided. */
export interface CollectionLayout {
  readonly name: string;
  readonly partitions: number;
}

export interface Place {
  readonly partition: number;
  readonly id: string;
}

export interface ObjectContent {
  /** The entries are of this version, or newer. */
  readonly version: number;
  readonly entries: Entries;
}

/** An object in a stream. */
export interface ListedObject extends Place {
  readonly version: number;
  /** Undefined when it was deleted after it was listed. */
  read(): Promise<ObjectContent | undefined>;
}

/** Objects that can be read: of a deployment, or of a file. */
export interface StateSource {
  readonly name: string;
  readonly collections: readonly CollectionLayout[];
  /** The objects of a collection by id, then by partition. */
  objects(collection: string): AsyncIterable<ListedObject>;
}

/** Objects that can be changed. */
export interface StateTarget extends StateSource {
  set(collection: string, at: Place, entries: Entries): Promise<void>;
  /** A no-op for an object that does not exist. */
  delete(collection: string, at: Place): Promise<void>;
}
