import fc from "fast-check";
import { expect, test } from "vitest";
import oracle from "../testdata/statuses.json" with { type: "json" };
import { isStatusReason, parseStatus } from "./status.ts";

test("reads Status objects of the Kubernetes library, parsed or as text", () => {
  for (const body of Object.values(oracle.rows)) {
    const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...status } = body;
    expect(parseStatus(body)).toEqual(status);
    expect(parseStatus(JSON.stringify(body))).toEqual(status);
  }
});

test.each([
  { body: "", case: "empty" },
  { body: "<html>Bad gateway</html>", case: "HTML page of a proxy" },
  { body: "{", case: "broken JSON" },
  { body: "null", case: "null" },
  { body: '{"kind":"Pod"}', case: "another kind" },
  { body: ["Status"], case: "an array" },
  { body: undefined, case: "no body" },
])("is not a Status: $case", ({ body }) => {
  expect(parseStatus(body)).toBeUndefined();
});

test("drops members of a wrong type", () => {
  expect(
    parseStatus({
      kind: "Status",
      message: 1,
      code: "404",
      reason: null,
      details: { causes: [null, 1, { field: 2, message: "m" }], name: {} },
    }),
  ).toEqual({ status: "Failure", details: { causes: [{ message: "m" }] } });
  expect(parseStatus({ kind: "Status", status: "Success", details: [], code: 200 })).toEqual({
    status: "Success",
    code: 200,
  });
});

test("reasons", () => {
  expect([
    isStatusReason("Gone"),
    isStatusReason("gone"),
    isStatusReason("toString"),
    isStatusReason(undefined),
  ]).toEqual([true, false, false, false]);
});

test("reads any value without throwing", () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (body, details) => {
      parseStatus(body);
      parseStatus({ kind: "Status", details });
      parseStatus({ kind: "Status", details: { causes: details } });
    }),
  );
});
