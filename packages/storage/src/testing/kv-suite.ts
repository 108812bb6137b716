import { describe } from "vitest";
import type { KeyValueStore } from "../port/key-value-store.ts";
import { commitCases } from "./commit-cases.ts";
import { leaseCases } from "./lease-cases.ts";
import { modelCases } from "./model-property.ts";
import { rangeCases } from "./range-cases.ts";
import { watchCases } from "./watch-cases.ts";

/** One store that is empty at first, and what its tests need to know about it. */
export interface StoreUnderTest {
  readonly store: KeyValueStore;
  /** Another client of the same data, as another process would be. */
  readonly connect: () => Promise<KeyValueStore>;
  /** Lets time pass: virtual time by stepping it, real time by waiting. */
  readonly elapse: (ms: number) => Promise<void>;
  /** Closes every client and removes what is left behind. */
  readonly dispose: () => Promise<void>;
}

export interface SuiteOptions {
  /** Makes an empty store. */
  readonly open: () => Promise<StoreUnderTest>;
  /** Sequences of the model-based property. */
  readonly modelRuns: number;
  /** The shortest lease the backend grants. */
  readonly leaseMs: number;
}

/** The whole contract of the port. A backend that passes may be used wherever a `KeyValueStore` is asked for. */
export function describeKeyValueStore(name: string, options: SuiteOptions): void {
  describe(`key-value store: ${name}`, () => {
    commitCases(options);
    rangeCases(options);
    watchCases(options);
    leaseCases(options);
    modelCases(options);
  });
}
