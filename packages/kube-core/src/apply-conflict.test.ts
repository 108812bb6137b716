import { expect, test } from "vitest";
import oracle from "../testdata/statuses.json" with { type: "json" };
import { fieldConflictsIn, fieldConflictText } from "./apply-conflict.ts";
import { parseStatus, type Status } from "./status.ts";

const conflicts = fieldConflictsIn(parseStatus(oracle.rows.applyConflict) as Status);

test("reads manager, field and details of each conflict", () => {
  expect(conflicts).toEqual([
    { manager: "kubectl", path: "$.spec.replicas", field: ".spec.replicas" },
    {
      manager: "kube-controller-manager",
      path: '$.spec.template.spec.containers[?@.name=="web"].ports[?@.containerPort==80&&@.protocol=="TCP"].name',
      field: '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].name',
      subresource: "scale",
      apiVersion: "apps/v1",
      time: "2026-01-02T03:04:05Z",
    },
    {
      manager: 'a "b"',
      path: "$.metadata.labels['example.com/app']",
      field: ".metadata.labels.example.com/app",
      apiVersion: "v1",
    },
  ]);
});

test("lists each manager once with all its fields", () => {
  expect(
    fieldConflictText([
      { manager: "a", path: "$.x", field: ".x" },
      { manager: "b", path: "$.y", field: ".y" },
      { manager: "a", path: "$.z", field: ".z" },
    ]),
  ).toBe('"a" holds $.x, $.z; "b" holds $.y');
});

test("ignores other causes and keeps an unknown message unparsed", () => {
  expect(
    fieldConflictsIn({
      status: "Failure",
      details: { causes: [{ reason: "FieldValueInvalid", message: 'conflict with "a"' }] },
    }),
  ).toEqual([]);
  expect(fieldConflictsIn({ status: "Failure" })).toEqual([]);
  expect(
    fieldConflictsIn({ status: "Failure", details: { causes: [{ reason: "FieldManagerConflict", message: "odd" }] } }),
  ).toEqual([{ manager: "odd", path: "$", field: "" }]);
});
