import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  conflict,
  Fault,
  FAULT_CODES,
  internal,
  invalidArgument,
  notFound,
  unavailable,
  type FaultCode,
  type FaultDetail,
  type FaultKind,
} from "@oaas/foundation";
import { faultFromStatus, faultStatusCode, faultToStatus, type GrpcFailure } from "./fault-status.ts";
import { METADATA_KEYS } from "../metadata.ts";
import { percentEncodedSize } from "./fault-encoding.ts";
import { GRPC_STATUS } from "./status-codes.ts";

const CALL = { peer: 'cluster "edge-1"', resource: "deployment", name: "shop", deadlineMs: 5_000 };

/** What a client's library hands over after a failed call. */
function received(failure: GrpcFailure, without: readonly string[] = []): Parameters<typeof faultFromStatus>[0] {
  const get = (key: string): (string | Uint8Array)[] => {
    const value = without.includes(key) ? undefined : failure.metadata.get(key);
    return value === undefined ? [] : [value];
  };
  return { code: failure.code, message: failure.message, metadata: { get } };
}

const text = fc.string({ maxLength: 30, unit: "grapheme" });
const time = fc.double({ min: 0, max: 1e9, noNaN: true });
const violation = fc.record({ path: text, message: text, fix: text }, { requiredKeys: ["path", "message"] });

/** Any fault that fits a metadata header whole. */
const anyFault: fc.Arbitrary<Fault> = fc.letrec<{ fault: Fault; detail: FaultDetail }>((tie) => ({
  detail: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<FaultDetail>({ kind: "unauthenticated" }, { kind: "cancelled" }, { kind: "internal" }),
    fc.record({ kind: fc.constant("invalid-argument" as const), violations: fc.array(violation, { maxLength: 3 }) }),
    fc.record({ kind: fc.constantFrom("not-found", "already-exists", "conflict"), resource: text, name: text }),
    fc.record({ kind: fc.constant("permission-denied" as const), action: text }),
    fc.record({ kind: fc.constant("failed-precondition" as const), subject: text }),
    fc.record(
      { kind: fc.constant("resource-exhausted" as const), limit: text, retryAfterMs: time },
      { requiredKeys: ["kind", "limit"] },
    ),
    fc.record(
      { kind: fc.constant("unavailable" as const), dependency: text, retryAfterMs: time },
      { requiredKeys: ["kind", "dependency"] },
    ),
    fc.record({ kind: fc.constant("deadline-exceeded" as const), afterMs: time }),
    fc.record({ kind: fc.constant("unimplemented" as const), feature: text }),
    fc.record({
      kind: fc.constant("partial-failure" as const),
      parts: fc.array(fc.record({ name: fc.string({ maxLength: 8 }), fault: tie("fault") }), { maxLength: 2 }),
    }),
  ),
  fault: fc
    .record({
      detail: tie("detail"),
      message: fc.string({ maxLength: 16 }),
      code: fc.option(fc.constantFrom(...(Object.keys(FAULT_CODES) as FaultCode[])), { nil: undefined }),
      correlationId: fc.option(fc.string({ minLength: 1, maxLength: 16 }), { nil: undefined }),
    })
    .map(
      ({ detail, message, code, correlationId }) =>
        new Fault(detail, message, {
          ...(code === undefined ? {} : { code }),
          ...(correlationId === undefined ? {} : { correlationId }),
        }),
    ),
})).fault;

/** What must survive the wire. */
function visible(fault: Fault): unknown {
  const detail =
    fault.detail.kind === "partial-failure"
      ? { ...fault.detail, parts: fault.detail.parts.map((part) => ({ name: part.name, fault: visible(part.fault) })) }
      : fault.detail;
  return { detail, message: fault.message, code: fault.code, correlationId: fault.correlationId };
}

describe("between our own processes", () => {
  test("round-trips every fault", () => {
    fc.assert(
      fc.property(anyFault, (fault) => {
        const sent = faultToStatus(fault);
        const encoded = sent.metadata.get(METADATA_KEYS.fault);
        fc.pre(encoded !== undefined && encoded.length < 1_500);
        expect(visible(faultFromStatus(received(sent), CALL))).toEqual(visible(fault));
      }),
      { numRuns: 300 },
    );
  });

  test("maps kinds to status codes and retryability", () => {
    const partial = new Fault(
      {
        kind: "partial-failure",
        parts: [
          { name: "a", fault: unavailable("a", "down") },
          { name: "b", fault: conflict("unit", "u") },
          { name: "c", fault: notFound("package", "p") },
        ],
      },
      "failed in three clusters",
    );
    expect(faultStatusCode(partial)).toBe(GRPC_STATUS.NOT_FOUND);
    const arrived = faultFromStatus(received(faultToStatus(partial)), CALL);
    expect(arrived.retryable).toBe(false);
    expect(faultStatusCode(new Fault({ kind: "partial-failure", parts: [] }, "nothing"))).toBe(GRPC_STATUS.INTERNAL);
  });

  test("does not send cause and context", () => {
    const secret = "postgres://root:hunter2@db";
    const fault = internal("broken", { cause: new Error(secret), context: { url: secret } });
    const { message, metadata } = faultToStatus(fault);
    const sent = [
      message,
      ...[...metadata.values()].map((value) => Buffer.from(value as Uint8Array).toString("latin1")),
    ];
    expect(sent.join("\n")).not.toContain("hunter2");
  });

  test("sends the retry delay as grpc-retry-pushback-ms, rounded up", () => {
    const { metadata } = faultToStatus(unavailable("etcd", "no leader", { retryAfterMs: 1_500.2 }));
    expect(metadata.get(METADATA_KEYS.retryPushbackMs)).toBe("1501");
  });

  test("sends a correlation id that is not header-safe in the fault only", () => {
    const sent = faultToStatus(internal("x", { correlationId: "naïve\nid" }));
    expect(sent.metadata.has(METADATA_KEYS.correlationId)).toBe(false);
    expect(faultFromStatus(received(sent), CALL).correlationId).toBe("naïve\nid");
  });
});

describe("size", () => {
  const many = invalidArgument(
    "the unit",
    Array.from({ length: 10_000 }, (_, index) => ({ path: `$.functions[${index}]`, message: "é".repeat(30) })),
  );

  test.each([
    { what: "ten thousand violations", fault: many },
    { what: "a message of a megabyte", fault: internal("🙂".repeat(250_000)) },
    { what: "a name of a megabyte", fault: notFound("n".repeat(1_000_000), "n".repeat(1_000_000)) },
    {
      what: "a thousand failed parts, each with violations",
      fault: new Fault(
        { kind: "partial-failure", parts: Array.from({ length: 1_000 }, (_, i) => ({ name: `c${i}`, fault: many })) },
        "failed",
      ),
    },
  ])("$what fit into 8 KiB of headers", ({ fault }) => {
    const { message, metadata } = faultToStatus(fault);
    const base64 = [...metadata.values()].reduce((sum, value) => sum + Math.ceil((value.length * 4) / 3), 0);
    expect(percentEncodedSize(message) + base64).toBeLessThan(6 * 1024);
  });

  test("counts omitted items", () => {
    const { violations } = faultFromStatus(received(faultToStatus(many)), CALL);
    expect(violations.length).toBeGreaterThan(3);
    const left = 10_000 - (violations.length - 1);
    expect(violations.at(-1)).toEqual({ path: "$", message: `has ${left} more problems, not sent` });
  });

  test("always includes the dominant part", () => {
    const parts = Array.from({ length: 100 }, (_, index) => ({
      name: `cluster-${index}`,
      fault: index === 99 ? notFound("package", "p") : unavailable("crm", "d".repeat(100)),
    }));
    const sent = faultToStatus(new Fault({ kind: "partial-failure", parts }, "failed"));
    const arrived = faultFromStatus(received(sent), CALL);
    expect(arrived.kind).toBe("partial-failure");
    expect(faultStatusCode(arrived)).toBe(GRPC_STATUS.NOT_FOUND);
  });
});

describe("from other peers", () => {
  const kinds: Record<keyof typeof GRPC_STATUS, FaultKind> = {
    OK: "unavailable",
    CANCELLED: "cancelled",
    UNKNOWN: "unavailable",
    INVALID_ARGUMENT: "invalid-argument",
    DEADLINE_EXCEEDED: "deadline-exceeded",
    NOT_FOUND: "not-found",
    ALREADY_EXISTS: "already-exists",
    PERMISSION_DENIED: "permission-denied",
    RESOURCE_EXHAUSTED: "resource-exhausted",
    FAILED_PRECONDITION: "failed-precondition",
    ABORTED: "conflict",
    OUT_OF_RANGE: "invalid-argument",
    UNIMPLEMENTED: "unimplemented",
    INTERNAL: "unavailable",
    UNAVAILABLE: "unavailable",
    DATA_LOSS: "internal",
    UNAUTHENTICATED: "unauthenticated",
  };

  test.each(Object.entries(kinds))("%s is %s", (name, kind) => {
    const code = GRPC_STATUS[name as keyof typeof GRPC_STATUS];
    const fault = faultFromStatus({ code, message: "k8s: the server is down" }, CALL);
    expect(fault.kind).toBe(kind);
    expect(fault.message).toBe('cluster "edge-1": k8s: the server is down');
  });

  test.each([
    { note: "", says: "no connection: connect ECONNREFUSED 127.0.0.1:1" },
    { note: "no address", says: "no connection: connect ECONNREFUSED 127.0.0.1:1 (no address)" },
  ])("simplifies grpc-js connection errors: $says", ({ note, says }) => {
    const message = `No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ${note}`;
    expect(faultFromStatus({ code: GRPC_STATUS.UNAVAILABLE, message }, CALL).message).toBe(`cluster "edge-1": ${says}`);
  });

  test("uses the context of the call", () => {
    expect(faultFromStatus({ code: GRPC_STATUS.NOT_FOUND, message: "" }, CALL).detail).toEqual({
      kind: "not-found",
      resource: "deployment",
      name: "shop",
    });
    expect(faultFromStatus({ code: GRPC_STATUS.DEADLINE_EXCEEDED, message: "" }, CALL).detail).toMatchObject({
      afterMs: 5_000,
    });
  });

  test.each([
    { why: "bytes that are not a message", value: new Uint8Array([0xff, 0xff, 0xff]) },
    { why: "an unknown kind", value: new Uint8Array([0x0a, 3, 0x6e, 0x65, 0x77]) },
    { why: "text under a binary key", value: "not bytes" },
    { why: "nothing", value: new Uint8Array() },
  ])("ignores an invalid fault header: $why", ({ value }) => {
    const metadata = { get: (key: string) => (key === METADATA_KEYS.fault ? [value] : []) };
    const fault = faultFromStatus({ code: GRPC_STATUS.ABORTED, message: "m", metadata }, CALL);
    expect(fault.kind).toBe("conflict");
  });

  test("ignores a fault header that does not match the status", () => {
    const sent = received(faultToStatus(notFound("package", "p")));
    expect(faultFromStatus({ ...sent, code: GRPC_STATUS.UNAVAILABLE }, CALL).kind).toBe("unavailable");
  });

  test("keeps the retry delay and the correlation id", () => {
    const sent = faultToStatus(unavailable("etcd", "x", { retryAfterMs: 250, correlationId: "abc" }));
    const fault = faultFromStatus(received(sent, [METADATA_KEYS.fault]), CALL);
    expect(fault.detail).toEqual({ kind: "unavailable", dependency: CALL.peer, retryAfterMs: 250 });
    expect(fault.correlationId).toBe("abc");
  });

  test("never throws for any code, text and bytes", () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), fc.uint8Array(), fc.string(), (code, message, bytes, pushback) => {
        const values: Record<string, string | Uint8Array> = {
          [METADATA_KEYS.fault]: bytes,
          [METADATA_KEYS.retryPushbackMs]: pushback,
        };
        const get = (key: string): (string | Uint8Array)[] => [values[key] ?? ""];
        expect(faultFromStatus({ code, message, metadata: { get } }, CALL)).toBeInstanceOf(Fault);
      }),
    );
  });
});
