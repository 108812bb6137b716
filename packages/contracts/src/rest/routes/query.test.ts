import { describe, expect, test } from "vitest";
import { ROUTES } from "./table.ts";
import { readBy } from "../reading/violations.ts";

describe("the query of a list", () => {
  test.each([
    { query: {}, read: {}, why: "no parameters" },
    { query: { limit: "10", offset: "0" }, read: { limit: 10, offset: 0 }, why: "numbers come as text" },
    { query: { name_pattern: "", page_token: "", tags: "" }, read: { tags: [] }, why: "an empty text is absent" },
    { query: { disabled: "true" }, read: { disabled: true }, why: "a boolean" },
    { query: { tags: "a,b" }, read: { tags: ["a", "b"] }, why: "a list with commas" },
    { query: { tags: ["a", "b"] }, read: { tags: ["a", "b"] }, why: "a list by repetition" },
    { query: { tags: ["a", "b,c", ""] }, read: { tags: ["a", "b", "c"] }, why: "a list repeated and with commas" },
    { query: { sort: "-name" }, read: { sort: "-name" }, why: "a descending sort order" },
    { query: { other: "x" }, read: {}, why: "unknown parameters are ignored" },
  ])("accepts $why", ({ query, read }) => {
    expect(readBy(ROUTES.listPackages.query, query)).toEqual({ ok: true, value: read });
  });

  test.each([
    { query: { limit: "-1" }, path: "$.limit", why: "not negative" },
    { query: { limit: "" }, path: "$.limit", why: "an empty number" },
    { query: { sort: "" }, path: "$.sort", why: "an empty sort order" },
    { query: { limit: "ten" }, path: "$.limit", why: "not a number" },
    { query: { limit: "1e3" }, path: "$.limit", why: "digits only" },
    { query: { limit: "99999999999" }, path: "$.limit", why: "beyond 32 bits" },
    { query: { limit: ["1", "2"] }, path: "$.limit", why: "repeated" },
    { query: { disabled: "maybe" }, path: "$.disabled", why: "neither true nor false" },
    { query: { disabled: "" }, path: "$.disabled", why: "a boolean without a value" },
    { query: { sort: "colour" }, path: "$.sort", why: "an unknown sort order" },
  ])("rejects $why", ({ query, path }) => {
    expect(readBy(ROUTES.listPackages.query, query)).toMatchObject({ ok: false, error: [{ path }] });
  });

  const digits = "use digits, such as 20";
  const [least, most] = ["use at least 0", "use at most 4294967295"];
  test.each([
    { query: { limit: "-1" }, message: "-1 is out of range", fix: least },
    { query: { limit: "9".repeat(18) }, message: "1000000000000000000 is out of range", fix: most },
    { query: { limit: "1.5" }, message: '"1.5" is not an integer', fix: digits },
    { query: { limit: "ten" }, message: '"ten" is not an integer', fix: digits },
    { query: { limit: "" }, message: '"" is not an integer', fix: digits },
    { query: { limit: ["1", "2"] }, message: "is repeated", fix: "set it once" },
    { query: { disabled: "maybe" }, message: '"maybe" is not a boolean', fix: "use true or false" },
    { query: { disabled: ["true", "true"] }, message: "is repeated", fix: "set it once" },
    { query: { name_pattern: ["a", "b"] }, message: "is repeated", fix: "set it once" },
    { query: { sort: ["name", "-name"] }, message: "is repeated", fix: "set it once" },
  ])("reports the value and the fix: $query", ({ query, message, fix }) => {
    const [member = ""] = Object.keys(query);
    const error = [{ path: `$.${member}`, message, fix }];
    expect(readBy(ROUTES.listPackages.query, query)).toEqual({ ok: false, error });
  });

  test("reads -0 as 0", () => {
    expect(readBy(ROUTES.listPackages.query, { limit: "-0" })).toEqual({ ok: true, value: { limit: 0 } });
  });
});

describe("one cluster under two names", () => {
  test.each([
    [{ cluster: "a" }, { cluster: "a" }],
    [{ env: "a" }, { env: "a" }],
    [
      { cluster: "a", env: "a" },
      { cluster: "a", env: "a" },
    ],
  ])("%j", (query, read) => {
    expect(readBy(ROUTES.deleteDeployment.query, query)).toEqual({ ok: true, value: read });
  });

  test("rejects an empty cluster, so that a deletion never reaches all clusters by mistake", () => {
    expect(readBy(ROUTES.deleteDeployment.query, { cluster: "" })).toMatchObject({ ok: false });
  });

  test("reports a repeated parameter", () => {
    const error = [{ path: "$.cluster", message: "is repeated", fix: "set it once" }];
    expect(readBy(ROUTES.deleteDeployment.query, { cluster: ["a", "b"] })).toEqual({ ok: false, error });
  });

  test("rejects different values of both names", () => {
    expect(readBy(ROUTES.deleteDeployment.query, { cluster: "a", env: "b" })).toMatchObject({
      ok: false,
      error: [{ path: "$.env" }],
    });
  });
});
