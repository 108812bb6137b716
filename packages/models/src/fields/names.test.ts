import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { qualifyClassKey, splitClassKey, type ClassKey, type PackageName } from "./ids.ts";
import {
  BINDING_NAME,
  CLASS_KEY,
  CLUSTER_NAME,
  CONFIG_KEY,
  DEPLOYMENT_KEY,
  FUNCTION_KEY,
  PACKAGE_NAME,
  UNIT_ID,
} from "./names.ts";
import { checkText, type TextRule } from "./text-rule.ts";

const accepted: { rule: TextRule; text: string; case: string }[] = [
  { rule: PACKAGE_NAME, text: "example", case: "the usual case" },
  { rule: PACKAGE_NAME, text: "org.example.shop_2", case: "dots belong to package names" },
  { rule: CLASS_KEY, text: "Record", case: "stored packages have upper-case keys" },
  { rule: FUNCTION_KEY, text: "Record.random", case: "functions are usually named after a class" },
  { rule: BINDING_NAME, text: "_on_create", case: "a method may start with an underscore" },
  { rule: CLUSTER_NAME, text: "oaas-1", case: "a name from CRM_CLUSTERS" },
  { rule: DEPLOYMENT_KEY, text: "example.record", case: "a key may look like a class" },
  { rule: UNIT_ID, text: "record-a1b2c3d4", case: "a generated unit id" },
  { rule: CONFIG_KEY, text: "HTTP_PORT", case: "an ordinary variable" },
  { rule: CONFIG_KEY, text: "a.b-c", case: "Kubernetes allows any printable character but '='" },
];

const rejected: { rule: TextRule; text: string; case: string }[] = [
  { rule: PACKAGE_NAME, text: "", case: "a name is not empty" },
  { rule: PACKAGE_NAME, text: "a b", case: "no spaces" },
  { rule: PACKAGE_NAME, text: "a/b", case: "a slash would split its URL and its storage key" },
  { rule: PACKAGE_NAME, text: "-a", case: "starts with a letter or digit" },
  { rule: PACKAGE_NAME, text: "a.", case: "ends with a letter or digit" },
  { rule: PACKAGE_NAME, text: "a\n", case: "no line break" },
  { rule: PACKAGE_NAME, text: "x".repeat(64), case: "longer than a label" },
  { rule: CLASS_KEY, text: "a.b", case: "package.Class splits at the last dot" },
  { rule: UNIT_ID, text: "1a", case: "a Service's name starts with a letter" },
  { rule: UNIT_ID, text: "Record-1", case: "DNS labels are lower case" },
  { rule: UNIT_ID, text: "a".repeat(64), case: "a DNS label has 63 characters" },
  { rule: CONFIG_KEY, text: "A=B", case: "an equals sign ends a variable's name" },
  { rule: CONFIG_KEY, text: "A B", case: "no spaces" },
];

describe("names", () => {
  test.each(accepted)("$rule.what: accepts $text ($case)", ({ rule, text }) => {
    expect(checkText(rule, text)).toEqual([]);
  });

  test.each(rejected)("$rule.what: rejects $text ($case)", ({ rule, text }) => {
    const [violation, ...more] = checkText(rule, text, "$.x");
    expect(violation).toMatchObject({ path: "$.x" });
    expect(violation?.fix).not.toBe("");
    expect(more).toEqual([]);
  });

  test("truncates a long text in the message", () => {
    expect(checkText(CLASS_KEY, `${"x".repeat(30)}.${"y".repeat(30)}`)[0]?.message.length).toBeLessThan(80);
  });
});

describe("package.Class", () => {
  const name = (rule: TextRule) => fc.string({ maxLength: 20 }).filter((text) => rule.findProblem(text) === undefined);

  test("splits joined names", () => {
    fc.assert(
      fc.property(name(PACKAGE_NAME), name(CLASS_KEY), (packageName, classKey) => {
        const qualified = qualifyClassKey(packageName as PackageName, classKey as ClassKey);
        expect(splitClassKey(qualified)).toEqual({ packageName, classKey });
      }),
    );
  });

  test("a package name may have dots", () => {
    expect(splitClassKey("org.example.Record")).toEqual({ packageName: "org.example", classKey: "Record" });
  });

  test.each(["", "Record", ".Record", "example."])("rejects %j with a missing part", (text) => {
    expect(splitClassKey(text)).toBeUndefined();
  });
});
