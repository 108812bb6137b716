import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/names.json" with { type: "json" };
import { checkName, checkQualifiedName, isValidName, type NameKind } from "./names.ts";

describe("matches recorded Kubernetes name validation", () => {
  const kinds = ["dns-1123-label", "dns-1123-subdomain", "dns-1035-label", "label-value"] as const;
  test.each(oracle.rows as [string, boolean, boolean, boolean, boolean, boolean][])("%j", (name, ...valid) => {
    const qualified = valid.pop();
    expect(kinds.map((kind) => isValidName(kind, name))).toEqual(valid);
    expect(kinds.map((kind) => checkName(kind, name).length === 0)).toEqual(valid);
    expect(checkQualifiedName(name).length === 0).toBe(qualified);
  });
});

describe("reports the violation and the fix", () => {
  test.each<{ kind: NameKind; name: string; violations: unknown[] }>([
    {
      kind: "dns-1123-label",
      name: "My_App",
      violations: [
        {
          path: "$",
          message: '"My_App" is not a DNS label',
          fix: "use lower-case letters, digits and '-', with a letter or digit at both ends",
        },
      ],
    },
    {
      kind: "dns-1035-label",
      name: "1".repeat(64),
      violations: [
        { path: "$", message: "has 64 characters, a DNS-1035 label has at most 63", fix: "shorten it" },
        expect.objectContaining({ message: expect.stringContaining("is not a DNS-1035 label") }),
      ],
    },
  ])("$kind $name", ({ kind, name, violations }) => {
    expect(checkName(kind, name)).toEqual(violations);
  });

  test.each([
    { key: "a/b/c", message: "\"a/b/c\" has more than one '/'" },
    { key: "Example.com/a", message: "the part before '/': \"Example.com\" is not a DNS subdomain" },
    { key: "example.com/", message: "the part after '/': \"\" is not a label key" },
    { key: "-a", message: '"-a" is not a label key' },
  ])("key $key", ({ key, message }) => {
    expect(checkQualifiedName(key)).toMatchObject([{ path: "$", message }]);
  });
});

test("validates a long hostile name in linear time", () => {
  fc.assert(
    fc.property(fc.constantFrom("a-", "a.", "-", "a_", "a.-"), (unit) => {
      const name = `${unit.repeat(100_000)}!`;
      expect(checkName("dns-1123-subdomain", name).length).toBe(2);
      expect(checkName("label-value", name).length).toBe(2);
    }),
    { numRuns: 10 },
  );
});
