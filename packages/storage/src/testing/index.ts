/** The suite that a backend of the key-value port has to pass. For tests only: it needs vitest and fast-check. */
export { describeKeyValueStore, type StoreUnderTest, type SuiteOptions } from "./kv-suite.ts";
