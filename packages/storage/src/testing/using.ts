import { test } from "vitest";
import type { StoreUnderTest, SuiteOptions } from "./kv-suite.ts";

/** A test with an empty store, which is removed afterwards. */
export function testWith(
  options: SuiteOptions,
): (name: string, body: (under: StoreUnderTest) => Promise<void>) => void {
  return (name, body) =>
    test(name, async () => {
      const under = await options.open();
      try {
        await body(under);
      } finally {
        await under.dispose();
      }
    });
}
