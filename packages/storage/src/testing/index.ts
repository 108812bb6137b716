/** Suite for backends of the key-value port. For tests only: it imports vitest and fast-check. */
export { describeKeyValueStore, type StoreUnderTest, type SuiteOptions } from "./kv-suite.ts";
