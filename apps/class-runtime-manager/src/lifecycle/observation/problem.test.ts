import { alreadyExists, internal, invalidArgument, unavailable } from "@oaas/foundation";
import { faultFromStatus } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { problemFromFault, problemFromViolations } from "./problem.ts";

const refused = (code: number, reason: string, message: string, details: object = {}) =>
  faultFromStatus(
    { kind: "Status", status: "Failure", code, reason, message, details },
    { what: "apply deployments shop/order" },
  );

test.each([
  {
    case: "another manager holds a field",
    fault: refused(409, "Conflict", "conflicts", {
      causes: [
        {
          reason: "FieldManagerConflict",
          message: 'conflict with "kubectl-edit" using apps/v1',
          field: ".spec.replicas",
        },
      ],
    }),
    want: { reason: "Conflict", verdict: "permanent", message: expect.stringMatching(/kubectl-edit.*replicas/) },
  },
  {
    case: "missing permissions",
    fault: refused(403, "Forbidden", 'deployments.apps is forbidden: User "crm" cannot patch resource "deployments"'),
    want: { reason: "Forbidden", message: expect.stringContaining("cannot patch") },
  },
  {
    case: "the quota is exceeded",
    fault: refused(403, "Forbidden", "pods x is forbidden: exceeded quota: small"),
    want: { reason: "Quota" },
  },
  {
    case: "an admission policy rejects it",
    fault: refused(403, "Forbidden", 'admission webhook "x" denied the request: no'),
    want: { reason: "AdmissionDenied" },
  },
  {
    case: "the namespace is terminating",
    fault: refused(403, "Forbidden", "namespace is being terminated", {
      causes: [{ reason: "NamespaceTerminating", message: "" }],
    }),
    want: { reason: "NamespaceTerminating" },
  },
  {
    case: "a field is invalid",
    fault: refused(422, "Invalid", "invalid", {
      causes: [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.replicas" }],
    }),
    want: {
      reason: "ApplyInvalid",
      verdict: "permanent",
      message: expect.stringContaining("$.spec.replicas: must be positive"),
    },
  },
  {
    case: "the kind is not served",
    fault: refused(404, "NotFound", "the server could not find the requested resource"),
    want: { reason: "KindMissing" },
  },
  {
    case: "the API server is unavailable",
    fault: unavailable("the Kubernetes API", "no answer"),
    want: { reason: "ApiUnavailable", verdict: "transient" },
  },
  {
    case: "a concurrent write",
    fault: refused(409, "Conflict", "the object has been modified"),
    want: { reason: "ApiUnavailable", verdict: "transient" },
  },
  { case: "the name is taken", fault: alreadyExists("Deployment", "order"), want: { reason: "NameTaken" } },
  {
    case: "our own check failed",
    fault: invalidArgument("render", [{ path: "$.spec.a", message: "is wrong" }]),
    want: { reason: "ApplyInvalid", message: "$.spec.a: is wrong" },
  },
  { case: "a bug", fault: internal("oops"), want: { reason: "InternalFault" } },
])("$case", ({ fault, want }) => {
  expect(problemFromFault(fault)).toMatchObject(want);
});

test("names every field of an invalid spec", () => {
  const wrong = [
    { path: "$.spec.a", message: "is missing", fix: "add it" },
    { path: "$.spec.b", message: "is wrong" },
  ];
  expect(problemFromViolations(wrong)).toEqual({
    reason: "InvalidSpec",
    verdict: "permanent",
    message: "$.spec.a: is missing; add it; $.spec.b: is wrong",
  });
});
