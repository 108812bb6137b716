import type { ClassKey, FunctionKey } from "../fields/ids.ts";

/** Access level of a method. */
export const AccessModifier = { public: "public", internal: "internal", private: "private" } as const;
export type AccessModifier = (typeof AccessModifier)[keyof typeof AccessModifier];

/** Consistency of reads of the state. */
export const ConsistencyModel = {
  none: "none",
  readYourWrite: "read-your-write",
  boundedStaleness: "bounded-staleness",
  strong: "strong",
} as const;
export type ConsistencyModel = (typeof ConsistencyModel)[keyof typeof ConsistencyModel];

/** Usage pattern of the objects of a class; it determines the name and the partitions of their collection. */
export const StateShape = { data: "data", singleton: "singleton", collection: "collection" } as const;
export type StateShape = (typeof StateShape)[keyof typeof StateShape];

/** One key of the state of a class. */
export interface KeySpecification {
  readonly name: string;
  readonly keyType: string;
  readonly nullable: boolean;
}

/** State of the objects of a class. */
export interface StateSpecification {
  readonly keySpecs: readonly KeySpecification[];
  /** Empty: the platform chooses. */
  readonly defaultProvider: string;
  readonly consistencyModel: ConsistencyModel;
  readonly shape: StateShape;
  readonly persistent: boolean;
  /** Size of a volume, if persistent. */
  readonly storageRequest?: string;
  /** Empty: the platform chooses. */
  readonly serializationFormat: string;
}

/** A method of a class, bound to a function of the same package. */
export interface FunctionBinding {
  readonly name: string;
  readonly functionKey: FunctionKey;
  readonly accessModifier: AccessModifier;
  /** Whether the method does not access the state of the object. */
  readonly stateless: boolean;
  readonly parameters: readonly string[];
  /** Whether the method runs when the state of the object changes. */
  readonly triggerOnStateChange: boolean;
  readonly asyncExecution: boolean;
}

/** A class: state and methods. */
export interface ClassDefinition {
  readonly key: ClassKey;
  readonly description?: string;
  readonly stateSpec?: StateSpecification;
  readonly bindings: readonly FunctionBinding[];
  readonly disabled: boolean;
}
