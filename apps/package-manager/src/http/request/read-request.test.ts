import { ROUTES } from "@oaas/contracts/rest";
import { describe, expect, test } from "vitest";
import { readQuery } from "./read-request.ts";

describe("the query of a request", () => {
  const { query } = ROUTES.listDeployments;

  test("is converted to the types of its schema", () => {
    expect(readQuery(query, { limit: "20", package_name: "a b" })).toMatchObject({ limit: 20, package_name: "a b" });
    expect(readQuery(query, {})).toEqual(readQuery(query, {}));
    for (let limit = 1; limit <= 1_000; limit += 1)
      expect(readQuery(query, { limit: String(limit) })).toMatchObject({ limit });
  });

  test("is rejected with the path of each violation", () => {
    const refused = expect.objectContaining({
      kind: "invalid-argument",
      detail: expect.objectContaining({ violations: [expect.objectContaining({ path: "$.limit" })] }),
    });
    expect(() => readQuery(query, { limit: "none" })).toThrow(refused);
  });
});
