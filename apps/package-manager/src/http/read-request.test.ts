import { ROUTES } from "@oaas/contracts/rest";
import { describe, expect, test } from "vitest";
import { queryReader } from "./read-request.ts";

describe("the query of a request", () => {
  const read = queryReader(ROUTES.listDeployments.query);

  test("means the same every time, and is worked out once", () => {
    const first = read("limit=20&package_name=a%20b");
    expect(first).toMatchObject({ limit: 20, package_name: "a b" });
    expect(read("limit=20&package_name=a%20b")).toBe(first);
    expect(read("")).toEqual(read(""));
    expect(read("limit=21")).toMatchObject({ limit: 21 });
  });

  test("a wrong one is refused every time", () => {
    const refused = expect.objectContaining({
      kind: "invalid-argument",
      detail: expect.objectContaining({ violations: [expect.objectContaining({ path: "$.limit" })] }),
    });
    expect(() => read("limit=none")).toThrow(refused);
    expect(() => read("limit=none")).toThrow(refused);
  });

  test("however many different ones come, each is read as it stands", () => {
    for (let limit = 1; limit <= 1_000; limit += 1) expect(read(`limit=${limit}`)).toMatchObject({ limit });
    expect(read("limit=7")).toMatchObject({ limit: 7 });
  });
});
