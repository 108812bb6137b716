import { describe } from "vitest";
import type { KeyValueStore } from "../port/key-value-store.ts";
import { commitCases } from "./commit-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { modelCases } from "./model-property.ts";
import { rangeCases } from "./range-cases.ts";
import { watchCases } from "./watch-cases.ts";

/** An empty store under test. */
export interface StoreUnderTest {
  readonly store: KeyValueStore;
  /** Returns another client of the same data, like another process. */
  readonly connect: () => Promise<KeyValueStore>;
  /** Advances virtual time, or waits in real time. */
  readonly elapse: (ms: number) => Promise<void>;
  /** Closes all clients and removes all data. */
  readonly dispose: () => Promise<void>;
}

export interface SuiteOptions {
  /** Creates an empty store. */
  readonly open: () => Promise<StoreUnderTest>;
  /** Number of sequences of the model-based property. */
  readonly modelRuns: number;
  /** Whether the client may not read the size. */
  readonly hidesSize?: boolean;
  /** The shortest lease the backend grants. */
  readonly leaseMs: number;
}

/** The contract of the port. A backend that passes can be used as a `KeyValueStore`. */
export function describeKeyValueStore(name: string, options: SuiteOptions): void {
  describe(`key-value store: ${name}`, () => {
    commitCases(options);
    rangeCases(options);
    watchCases(options);
    leaseCases(options);
    modelCases(options);
  });
}
