import type { FaultDetail } from "@oaas/foundation";
import { notFound } from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import oracle from "../testdata/statuses.json" with { type: "json" };
import { faultFromStatus, fieldConflictsOf, isExpired, statusReasonOf } from "./status-fault.ts";

const what = "get pods shop/web";
const api = { kind: "unavailable", dependency: "the Kubernetes API" } as const;

test.each([
  [
    "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.replicaz: field not declared in schema",
    [{ path: "$.spec.replicaz", message: "field not declared in schema" }],
  ],
  [
    "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): errors:\n  .spec.replicaz: field not declared in schema\n  .spec.replicas: expected numeric (int or float), got string",
    [
      { path: "$.spec.replicaz", message: "field not declared in schema" },
      { path: "$.spec.replicas", message: "expected numeric (int or float), got string" },
    ],
  ],
  ["failed to create typed patch object: odd", [{ path: "$", message: "failed to create typed patch object: odd" }]],
])("maps an apply that violates the schema to invalid-argument despite status 500: %s", (message, violations) => {
  const fault = faultFromStatus({ kind: "Status", status: "Failure", code: 500, message }, { what, httpStatus: 500 });
  expect(fault.detail).toEqual({ kind: "invalid-argument", subject: what, violations });
  expect(fault.retryable).toBe(false);
});

describe("maps each error of the Kubernetes error library", () => {
  const wanted: Record<keyof typeof oracle.rows, FaultDetail> = {
    notFound: { kind: "not-found", resource: "pods", name: "web" },
    alreadyExists: { kind: "already-exists", resource: "pods", name: "web" },
    generateNameTaken: { kind: "already-exists", resource: "pods", name: "web-x" },
    conflict: { kind: "conflict", resource: "pods", name: "web" },
    applyConflict: { kind: "failed-precondition", subject: what },
    unauthorized: { kind: "unauthenticated" },
    forbidden: { kind: "permission-denied", action: what },
    gone: { kind: "failed-precondition", subject: what },
    expired: { kind: "failed-precondition", subject: what },
    badRequest: {
      kind: "invalid-argument",
      subject: what,
      violations: [{ path: "$", message: "the body is not JSON" }],
    },
    tooLarge: {
      kind: "invalid-argument",
      subject: what,
      violations: [{ path: "$", message: "Request entity too large: limit is 3145728" }],
    },
    invalid: {
      kind: "invalid-argument",
      subject: what,
      violations: [
        { path: "$.spec.template.spec.containers[0].image", message: "Required value" },
        { path: "$.metadata.annotations['example.com/a.b']", message: 'Invalid value: "x": must be good' },
        {
          path: "$.spec.strategy.type",
          message: 'Unsupported value: "Odd": supported values: "Recreate", "RollingUpdate"',
        },
        { path: "$", message: "Forbidden: all of it" },
      ],
    },
    tooManyRequests: { kind: "resource-exhausted", limit: "requests to the Kubernetes API", retryAfterMs: 7000 },
    tooManyPlain: { kind: "resource-exhausted", limit: "requests to the Kubernetes API" },
    unavailable: api,
    serverTimeout: { ...api, retryAfterMs: 2000 },
    timeout: api,
    internal: api,
    generic502: api,
    methodNotAllowed: { kind: "unimplemented", feature: what },
    unsupportedMedia: { kind: "unimplemented", feature: what },
    notAcceptable: { kind: "unimplemented", feature: what },
    generic418: { kind: "internal" },
  };

  test.each(Object.keys(oracle.rows) as (keyof typeof oracle.rows)[])("%s", (row) => {
    const body = oracle.rows[row];
    const fault = faultFromStatus(JSON.stringify(body), { what, httpStatus: body.code });
    expect(fault.detail).toEqual(wanted[row]);
    expect(fault.message).toContain(what);
    expect(fault.context).toMatchObject({ what, httpStatus: body.code, serverMessage: body.message });
    expect(faultFromStatus(body, { what }).detail).toEqual(wanted[row]);
    expect(isExpired(fault)).toBe(row === "gone" || row === "expired");
  });
});

test("names managers and fields of a failed apply, which is not retryable", () => {
  const fault = faultFromStatus(oracle.rows.applyConflict, { what: "apply deployments shop/web" });
  expect(fault.message).toBe(
    "apply deployments shop/web would take fields from other managers: " +
      '"kubectl" holds $.spec.replicas; ' +
      '"kube-controller-manager" holds $.spec.template.spec.containers[?@.name=="web"].ports[?@.containerPort==80&&@.protocol=="TCP"].name; ' +
      '"a "b"" holds $.metadata.labels[\'example.com/app\']',
  );
  expect(fault.retryable).toBe(false);
  expect(fieldConflictsOf(fault).map(({ manager }) => manager)).toEqual([
    "kubectl",
    "kube-controller-manager",
    'a "b"',
  ]);
  expect(fieldConflictsOf(faultFromStatus(oracle.rows.conflict))).toEqual([]);
  expect(fieldConflictsOf(notFound("pods", "web"))).toEqual([]);
});

describe("maps responses without a Status by their code", () => {
  test.each([
    { httpStatus: 401, kind: "unauthenticated" },
    { httpStatus: 403, kind: "permission-denied" },
    { httpStatus: 404, kind: "not-found" },
    { httpStatus: 408, kind: "unavailable" },
    { httpStatus: 409, kind: "conflict" },
    { httpStatus: 410, kind: "failed-precondition" },
    { httpStatus: 413, kind: "invalid-argument" },
    { httpStatus: 418, kind: "internal" },
    { httpStatus: 429, kind: "resource-exhausted" },
    { httpStatus: 500, kind: "unavailable" },
    { httpStatus: 501, kind: "unimplemented" },
    { httpStatus: 502, kind: "unavailable" },
    { httpStatus: 503, kind: "unavailable" },
    { httpStatus: 504, kind: "unavailable" },
    { httpStatus: 599, kind: "unavailable" },
    { httpStatus: 302, kind: "internal" },
  ])("$httpStatus: $kind", ({ httpStatus, kind }) => {
    const fault = faultFromStatus("<html>secret page</html>", { httpStatus, what });
    expect(fault.kind).toBe(kind);
    expect(fault.message).not.toContain("secret");
    expect(fault.context["body"]).toBe("<html>secret page</html>");
  });

  test("maps an empty response to internal, and keeps only the start of a body", () => {
    const fault = faultFromStatus("x".repeat(10_000));
    expect([fault.kind, fault.message, String(fault.context["body"]).length]).toEqual([
      "internal",
      "the request failed: the server gave no reason",
      500,
    ]);
  });
});

describe("edge cases", () => {
  const status = { kind: "Status", status: "Failure" };
  test.each([
    { body: { ...status, reason: "Odd", code: 404 }, kind: "not-found", case: "unknown reason: the code decides" },
    {
      body: { ...status, reason: "Conflict", code: 500 },
      kind: "conflict",
      case: "known reason: takes precedence over the code",
    },
    { body: { ...status, reason: "Odd" }, kind: "internal", case: "unknown reason without a code" },
    {
      body: { ...status, reason: "Forbidden", code: 403, details: { causes: [{ reason: "NamespaceTerminating" }] } },
      kind: "failed-precondition",
      case: "terminating namespace",
    },
  ])("$case", ({ body, kind }) => {
    expect(faultFromStatus(body).kind).toBe(kind);
  });

  test("prefers the Retry-After header to the body, never zero, and never for writes that may have succeeded", () => {
    const { tooManyRequests, timeout, unavailable } = oracle.rows;
    expect(faultFromStatus(tooManyRequests, { retryAfterSeconds: 1 }).detail).toMatchObject({ retryAfterMs: 1000 });
    expect(faultFromStatus(unavailable, { retryAfterSeconds: 0 }).detail).not.toHaveProperty("retryAfterMs");
    expect(faultFromStatus(timeout, { retryAfterSeconds: 1 }).detail).not.toHaveProperty("retryAfterMs");
    const tooNew = { ...timeout, details: { ...timeout.details, causes: [{ reason: "ResourceVersionTooLarge" }] } };
    expect(faultFromStatus(tooNew).detail).toMatchObject({ retryAfterMs: 3000 });
  });

  test("keeps the reason for programs", () => {
    expect(statusReasonOf(faultFromStatus(oracle.rows.expired))).toBe("Expired");
    expect(statusReasonOf(faultFromStatus("", { httpStatus: 404 }))).toBe("NotFound");
    expect(statusReasonOf(faultFromStatus({ ...status, reason: "Odd" }))).toBe("Odd");
    expect(statusReasonOf(notFound("pods", "web"))).toBeUndefined();
  });

  test("maps any value to a fault", () => {
    fc.assert(
      fc.property(fc.anything(), fc.option(fc.integer(), { nil: undefined }), (body, code) => {
        expect(faultFromStatus(body, code === undefined ? {} : { httpStatus: code }).name).toBe("Fault");
        expect(faultFromStatus({ kind: "Status", details: body }).name).toBe("Fault");
      }),
    );
  });
});
