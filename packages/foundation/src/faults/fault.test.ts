import { describe, expect, test } from "vitest";
import { FAULT_CODES } from "./fault-codes.ts";
import {
  cancelled,
  conflict,
  deadlineExceeded,
  dominantPart,
  Fault,
  faultMeaning,
  invalidArgument,
  invalidArgumentMessage,
  isFault,
  notFound,
  unavailable,
  type FaultKind,
} from "./fault.ts";

describe("retryable depends on the kind", () => {
  test.each([
    [conflict("package", "a"), true],
    [unavailable("etcd", "down"), true],
    [deadlineExceeded(5), true],
    [cancelled(), false],
    [notFound("package", "a"), false],
    [invalidArgument("package", []), false],
  ] as const)("%s", (fault, retryable) => {
    expect(fault.retryable).toBe(retryable);
  });

  test("a partial failure is retryable only when every part is", () => {
    const parts = [
      { name: "a", fault: unavailable("crm", "down") },
      { name: "b", fault: notFound("class", "x") },
    ];
    expect(new Fault({ kind: "partial-failure", parts }, "some failed").retryable).toBe(false);
    expect(new Fault({ kind: "partial-failure", parts: parts.slice(0, 1) }, "one failed").retryable).toBe(true);
    expect(dominantPart(parts)?.name).toBe("b");
    expect(dominantPart(parts.slice(0, 1))?.name).toBe("a");
  });
});

describe("Fault.from", () => {
  test("returns a fault unchanged", () => {
    const fault = notFound("package", "a");
    expect(Fault.from(fault)).toBe(fault);
  });

  test("converts an AbortError to a cancellation", () => {
    const abort = new DOMException("stopped", "AbortError");
    expect(Fault.from(abort).kind).toBe("cancelled");
  });

  test("converts other errors to internal faults that hide the original message", () => {
    const fault = Fault.from(new Error("password=secret"));
    expect(fault.kind).toBe("internal");
    expect(fault.message).not.toContain("secret");
    expect((fault.cause as Error).message).toBe("password=secret");
  });

  test.each(["a string", 42, null, undefined, { odd: true }])("accepts a thrown %s", (thrown) => {
    expect(Fault.from(thrown).kind).toBe("internal");
  });
});

test("keeps the first correlation id", () => {
  const fault = notFound("package", "a").withCorrelationId("first");
  expect(fault.correlationId).toBe("first");
  expect(fault.withCorrelationId("second").correlationId).toBe("first");
});

describe("Fault.with", () => {
  const original = notFound("package", "a", {
    code: "OAAS_STORE_FULL",
    cause: new Error("disk"),
    context: { path: "/data" },
    evidence: { clusters: ["edge"] },
    correlationId: "c-1",
  });

  test("keeps members that are not replaced, including evidence and cause", () => {
    const { code, context, evidence, correlationId, detail, cause, stack } = original;
    const copy = original.with({ correlationId: "c-2" });
    expect(copy).not.toBe(original);
    expect(copy).toMatchObject({ code, context, evidence, detail, cause, stack, message: original.message });
    expect(copy.correlationId).toBe("c-2");
    expect(original.with({})).toMatchObject({ correlationId });
  });

  test("replaces the given members", () => {
    const detail = { kind: "conflict", resource: "package", name: "a" } as const;
    const copy = original.with({ detail, message: "moved", code: "OAAS_CONFLICT", evidence: {}, cause: original });
    expect(copy).toMatchObject({ detail, message: "moved", code: "OAAS_CONFLICT", evidence: {}, cause: original });
    expect(copy.stack).toContain("moved");
    expect(copy.context).toEqual({ path: "/data" });
  });
});

test("the message of an invalid argument lists or counts the violations", () => {
  const violations = ["a", "b", "c"].map((name) => ({ path: `$.${name}`, message: "is missing" }));
  const fault = invalidArgument("the body", violations);
  expect(fault.detail).toEqual({ kind: "invalid-argument", subject: "the body", violations });
  expect(fault.message).toBe("the body is invalid: $.a: is missing; $.b: is missing; $.c: is missing");
  expect(invalidArgumentMessage("the body", violations, 1)).toBe("the body is invalid: $.a: is missing; and 2 more");
  expect(invalidArgumentMessage("the body", [])).toBe("the body is invalid");
});

test("every kind has a general code in the catalogue", () => {
  const kinds: FaultKind[] = [
    "invalid-argument",
    "unauthenticated",
    "permission-denied",
    "not-found",
    "already-exists",
    "conflict",
    "failed-precondition",
    "resource-exhausted",
    "unavailable",
    "deadline-exceeded",
    "cancelled",
    "unimplemented",
    "partial-failure",
    "internal",
  ];
  for (const kind of kinds) {
    expect(FAULT_CODES).toHaveProperty(`OAAS_${kind.replaceAll("-", "_").toUpperCase()}`);
  }
});

test("isFault narrows to the detail of its kind", () => {
  const thrown: unknown = notFound("package", "a");
  expect(isFault(thrown, "not-found") && thrown.detail.resource).toBe("package");
  expect(isFault(thrown, "conflict")).toBe(false);
  expect(faultMeaning(notFound("package", "a"))).toBe("The resource does not exist.");
});
