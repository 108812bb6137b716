import { expect, test } from "vitest";
import { encodingFor } from "./compression.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["gzip", "gzip"],
  ["X-GZIP", "gzip"],
  ["gzip, deflate, br", "br"],
  ["*", "br"],
  ["br;q=0.1, gzip;q=0.9", "gzip"],
  ["br;q=0, *", "gzip"],
  ["gzip;q=0, *", "br"],
  ["gzip;q=0, br;q=0.000", undefined],
  ["*;q=0", undefined],
  ["*;q=0, gzip", "gzip"],
  ["identity", undefined],
  ["identity;q=1, gzip;q=0.5", undefined],
  ["identity;q=0.5, gzip ; q=0.5", "gzip"],
  ["gzip;q=much", undefined],
])("accept-encoding: %s", (accepted, encoding) => {
  expect(encodingFor(accepted)).toBe(encoding);
});
