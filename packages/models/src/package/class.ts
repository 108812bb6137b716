import type { ClassKey, FunctionKey } from "../fields/ids.ts";

/** Who may call a method. */
export const AccessModifier = { public: "public", internal: "internal", private: "private" } as const;
export type AccessModifier = (typeof AccessModifier)[keyof typeof AccessModifier];

/** What a reader of the state may rely on. */
export const ConsistencyModel = {
  none: "none",
  readYourWrite: "read-your-write",
  boundedStaleness: "bounded-staleness",
  strong: "strong",
} as const;
export type ConsistencyModel = (typeof ConsistencyModel)[keyof typeof ConsistencyModel];

/** How the objects of a class are used, which decides the name and the partitions of their collection. */
export const StateShape = { data: "data", singleton: "singleton", collection: "collection" } as const;
export type StateShape = (typeof StateShape)[keyof typeof StateShape];

/** One key of a class's state. */
export interface KeySpecification {
  readonly name: string;
  readonly keyType: string;
  readonly nullable: boolean;
}

/** The state that the objects of a class have. */
export interface StateSpecification {
  readonly keySpecs: readonly KeySpecification[];
  /** Empty means: the platform chooses. */
  readonly defaultProvider: string;
  readonly consistencyModel: ConsistencyModel;
  readonly shape: StateShape;
  readonly persistent: boolean;
  /** Quantity of one volume when persistent. */
  readonly storageRequest?: string;
  /** Empty means: the platform chooses. */
  readonly serializationFormat: string;
}

/** A method of a class: a name for a function of the same package. */
export interface FunctionBinding {
  readonly name: string;
  readonly functionKey: FunctionKey;
  readonly accessModifier: AccessModifier;
  /** The method does not touch the object's state. */
  readonly stateless: boolean;
  readonly parameters: readonly string[];
  /** Runs whenever the object's state changes. */
  readonly triggerOnStateChange: boolean;
  readonly asyncExecution: boolean;
}

/** State and the methods that work on it. */
export interface ClassDefinition {
  readonly key: ClassKey;
  readonly description?: string;
  readonly stateSpec?: StateSpecification;
  readonly bindings: readonly FunctionBinding[];
  readonly disabled: boolean;
}
