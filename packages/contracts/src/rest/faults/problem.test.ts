import {
  alreadyExists,
  cancelled,
  conflict,
  deadlineExceeded,
  failedPrecondition,
  FAULT_CODES,
  Fault,
  internal,
  invalidArgument,
  notFound,
  resourceExhausted,
  unavailable,
  type FaultCode,
  type FaultDetail,
} from "@oaas/foundation";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { faultToProblem, problemView } from "./problem.ts";
import { faultFromResponse } from "./fault-from-response.ts";
import { HTTP_ERRORS, kindOfStatus } from "./http-status.ts";
import { retryAfterMsFrom, retryAfterHeader } from "./http-status.ts";

const plain = (kind: "unauthenticated" | "internal") => new Fault({ kind }, kind);

describe("HTTP status", () => {
  test.each([
    [invalidArgument("package", []), 400],
    [plain("unauthenticated"), 401],
    [new Fault({ kind: "permission-denied", action: "write" }, "no"), 403],
    [notFound("package", "a"), 404],
    [alreadyExists("package", "a"), 409],
    [conflict("package", "a"), 409],
    [failedPrecondition("template", "unknown"), 400],
    [resourceExhausted("requests per minute", "too many"), 429],
    [unavailable("crm", "down"), 503],
    [deadlineExceeded(5), 504],
    [cancelled(), 499],
    [new Fault({ kind: "unimplemented", feature: "scripts" }, "not here"), 501],
    [internal("a mistake"), 500],
    [resourceExhausted("disk", "full", { code: "OAAS_STORE_FULL" }), 503],
    [failedPrecondition("revision", "gone", { code: "OAAS_STORE_COMPACTED" }), 410],
  ] as const)("%s answers %i", (fault, status) => {
    expect(faultToProblem(fault).status).toBe(status);
  });

  const parts = (...faults: Fault[]) => ({
    kind: "partial-failure" as const,
    parts: faults.map((fault, at) => ({ name: `cluster-${at}`, fault })),
  });

  test.each([
    {
      faults: [unavailable("a", "down"), unavailable("b", "down")],
      status: 503,
      why: "an outage is not a client error",
    },
    { faults: [unavailable("a", "down"), invalidArgument("unit", [])], status: 400, why: "the request is invalid" },
    { faults: [unavailable("a", "down"), plain("internal")], status: 500, why: "retrying does not help" },
    { faults: [], status: 500, why: "a failure without parts is a bug" },
  ])("a deployment that failed in every cluster returns $status: $why", ({ faults, status }) => {
    expect(faultToProblem(new Fault(parts(...faults), "failed in every cluster")).status).toBe(status);
  });

  test("uses the dominant part of nested partial failures", () => {
    const inner = new Fault(parts(notFound("class", "x")), "inner");
    expect(faultToProblem(new Fault(parts(inner), "outer")).status).toBe(404);
  });

  test.each(Object.entries(HTTP_ERRORS))("%s keeps the kind of its fault and has its own status", (name, expected) => {
    const fault = new Fault({ kind: "cancelled" }, "refused at the edge");
    const problem = faultToProblem(fault, { httpError: name as keyof typeof HTTP_ERRORS, instance: "/x" });
    expect(problem).toMatchObject({ status: expected.status, kind: "cancelled", instance: "/x" });
    expect(kindOfStatus(expected.status)).toBe(expected.kind);
  });
});

describe("the problem body", () => {
  test("has the fields of RFC 9457 and error", () => {
    const fault = invalidArgument("package", [{ path: "$.name", message: "is empty", fix: "name it" }]);
    expect(faultToProblem(fault.withCorrelationId("c-1"))).toEqual({
      type: "urn:oaas:fault:OAAS_INVALID_ARGUMENT",
      title: FAULT_CODES.OAAS_INVALID_ARGUMENT.meaning,
      status: 400,
      detail: "package is invalid: $.name: is empty; name it",
      error: "package is invalid: $.name: is empty; name it",
      code: "OAAS_INVALID_ARGUMENT",
      kind: "invalid-argument",
      retryable: false,
      correlationId: "c-1",
      details: { subject: "package" },
      violations: [{ path: "$.name", message: "is empty", fix: "name it" }],
    });
  });

  test("does not include cause and context", () => {
    const fault = internal("a mistake", { cause: new Error("secret"), context: { password: "secret" } });
    expect(JSON.stringify(faultToProblem(fault))).not.toContain("secret");
  });
});

const word = fc.string({ maxLength: 10 });
const wait = fc.option(fc.nat(), { nil: undefined });
const withWait = (detail: object, retryAfterMs: number | undefined) =>
  (retryAfterMs === undefined ? detail : { ...detail, retryAfterMs }) as FaultDetail;
const violation = fc.record({ path: word, message: word, fix: word }, { requiredKeys: ["path", "message"] });

const { fault: anyFault } = fc.letrec<{ fault: Fault; detail: FaultDetail }>((tie) => ({
  detail: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<FaultDetail>({ kind: "unauthenticated" }, { kind: "cancelled" }, { kind: "internal" }),
    fc.array(violation, { maxLength: 3 }).map((violations): FaultDetail => ({ kind: "invalid-argument", violations })),
    fc
      .tuple(fc.string({ minLength: 1, maxLength: 10 }), fc.array(violation, { maxLength: 3 }))
      .map(([subject, violations]): FaultDetail => ({ kind: "invalid-argument", subject, violations })),
    word.map((action): FaultDetail => ({ kind: "permission-denied", action })),
    fc
      .tuple(fc.constantFrom("not-found", "already-exists", "conflict"), word, word)
      .map(([kind, resource, name]): FaultDetail => ({ kind, resource, name })),
    word.map((subject): FaultDetail => ({ kind: "failed-precondition", subject })),
    fc.tuple(word, wait).map(([limit, ms]) => withWait({ kind: "resource-exhausted", limit }, ms)),
    fc.tuple(word, wait).map(([dependency, ms]) => withWait({ kind: "unavailable", dependency }, ms)),
    fc.nat().map((afterMs): FaultDetail => ({ kind: "deadline-exceeded", afterMs })),
    word.map((feature): FaultDetail => ({ kind: "unimplemented", feature })),
    fc
      .array(fc.record({ name: word, fault: tie("fault") }), { maxLength: 3 })
      .map((parts): FaultDetail => ({ kind: "partial-failure", parts })),
  ),
  fault: fc
    .tuple(
      tie("detail"),
      word,
      fc.option(fc.constantFrom(...(Object.keys(FAULT_CODES) as FaultCode[])), { nil: undefined }),
      fc.option(word, { nil: undefined }),
    )
    .map(
      ([detail, message, code, correlationId]) =>
        new Fault(detail, message, {
          ...(code === undefined ? {} : { code }),
          ...(correlationId === undefined ? {} : { correlationId }),
        }),
    ),
}));

/** What of a fault leaves the process. */
function outside(fault: Fault): unknown {
  const { detail } = fault;
  return {
    detail:
      detail.kind === "partial-failure"
        ? { kind: detail.kind, parts: detail.parts.map((part) => ({ name: part.name, fault: outside(part.fault) })) }
        : detail,
    code: fault.code,
    message: fault.message,
    correlationId: fault.correlationId,
    retryable: fault.retryable,
  };
}

test("a fault round-trips through its response", () => {
  fc.assert(
    fc.property(anyFault, (fault) => {
      const problem = faultToProblem(fault);
      const body = JSON.stringify(problem);
      expect(problemView.safeParse(JSON.parse(body)).error).toBeUndefined();
      const back = faultFromResponse({
        status: problem.status,
        body,
        retryAfter: retryAfterHeader(fault) ?? null,
        nowMs: 0,
      });
      // An response's own wait is exact in the body; the header's whole seconds fill in only where the body has none.
      expect(outside(back)).toEqual(outside(fault));
    }),
  );
});

test("nested parts round-trip", () => {
  const whole = (name: string, fault: Fault) =>
    new Fault({ kind: "partial-failure", parts: [{ name, fault }] }, "failed");
  const fault = whole("roll-out", whole("cluster", whole("function", notFound("image", "echo:1"))));
  const problem = faultToProblem(fault);
  const back = faultFromResponse({ status: problem.status, body: JSON.stringify(problem), nowMs: 0 });
  expect(outside(back)).toEqual(outside(fault));
});

test("the evidence of an outdated plan round-trips", () => {
  const change = { path: "$.replicas", change: "changed", before: 1, after: 2, text: "replicas changed from 1 to 2" };
  const evidence = { reason: "outdated", current_digest: "d2", changes: [change] };
  const problem = faultToProblem(new Fault({ kind: "conflict", resource: "plan", name: "d1" }, "x", { evidence }));
  expect(problemView.parse(JSON.parse(JSON.stringify(problem))).evidence).toEqual(evidence);
  const body = JSON.stringify(problem);
  expect(faultFromResponse({ status: 409, body, nowMs: 0 }).evidence).toEqual(evidence);
});

test("the evidence of a failed plan round-trips; invalid evidence is dropped", () => {
  const clusters = [
    { cluster: "a", chosen: false, availability: 0.9, health_age_ms: 5, reasons_for: ["up"], reasons_against: [] },
  ];
  const remedies = [{ kind: "raise-cap", text: "more", max_replicas: 9 }];
  const evidence = { reason: "out-of-reach", best: { availability: 0.9, replicas: 1 }, remedies, clusters };
  const problem = faultToProblem(failedPrecondition("class", "out of reach", { evidence }));
  expect(problemView.parse(JSON.parse(JSON.stringify(problem))).evidence).toEqual(evidence);
  const evidenceIn = (body: object) =>
    faultFromResponse({ status: 400, body: JSON.stringify(body), nowMs: 0 }).evidence;
  expect(evidenceIn(problem)).toEqual(evidence);
  expect(evidenceIn({ ...problem, evidence: { clusters: "none" } })).toBeUndefined();
});

describe("responses of other servers", () => {
  test.each([
    { status: 404, body: '{"error":"Package not found: a"}', kind: "not-found", message: "Package not found: a" },
    { status: 500, body: '{"error":"boom"}', kind: "internal", message: "boom" },
    { status: 422, body: "Failed to deserialize the JSON body", kind: "invalid-argument", message: "Failed to" },
    { status: 415, body: "Expected JSON", kind: "invalid-argument", message: "Expected JSON" },
    { status: 502, body: "<html>Bad gateway</html>", kind: "unavailable", message: "status 502" },
    { status: 503, body: "", kind: "unavailable", message: "status 503" },
    { status: 418, body: "[]", kind: "invalid-argument", message: "status 418" },
    { status: 599, body: "null", kind: "internal", message: "null" },
    { status: 409, body: '{"kind":"of tomorrow","code":"OAAS_NEW","error":"new"}', kind: "conflict", message: "new" },
    { status: 400, body: '{"error":5,"violations":"no","title":"t"}', kind: "invalid-argument", message: "t" },
    { status: 500, body: '{"code":"toString"}', kind: "internal", message: "status 500" },
  ])("$status $body is $kind", ({ status, body, kind, message }) => {
    const fault = faultFromResponse({ status, body, nowMs: 0 });
    expect(fault.kind).toBe(kind);
    expect(fault.message).toContain(message);
    expect(FAULT_CODES).toHaveProperty(fault.code);
  });

  test("converts any response to a fault", () => {
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), fc.oneof(fc.string(), fc.json()), (status, body) => {
        expect(faultFromResponse({ status, body, nowMs: 0 })).toBeInstanceOf(Fault);
      }),
    );
  });

  test("limits the nesting of parts", () => {
    let body = '{"kind":"internal"}';
    for (let depth = 0; depth < 500; depth += 1) {
      body = `{"kind":"partial-failure","parts":[{"name":"a","problem":${body}}]}`;
    }
    expect(faultFromResponse({ status: 500, body, nowMs: 0 }).kind).toBe("partial-failure");
  });
});

describe("Retry-After", () => {
  test.each([
    { header: "3", ms: 3000, why: "seconds" },
    { header: " 0 ", ms: 0, why: "zero seconds" },
    { header: "Thu, 01 Jan 1970 00:00:10 GMT", ms: 8000, why: "a date in the future" },
    { header: "Thu, 01 Jan 1970 00:00:01 GMT", ms: 0, why: "a date in the past" },
    { header: "soon", ms: undefined, why: "neither a number nor a date" },
    { header: "-1", ms: undefined, why: "not negative" },
    { header: null, ms: undefined, why: "absent" },
  ])("$header: $why", ({ header, ms }) => {
    expect(retryAfterMsFrom(header, 2000)).toBe(ms);
  });

  test("is rounded up; a partial failure uses the longest delay of its parts", () => {
    expect(retryAfterHeader(unavailable("crm", "busy", { retryAfterMs: 1200 }))).toBe("2");
    const parts = [
      { name: "a", fault: unavailable("a", "busy", { retryAfterMs: 1000 }) },
      { name: "b", fault: unavailable("b", "busy", { retryAfterMs: 4000 }) },
    ];
    expect(retryAfterHeader(new Fault({ kind: "partial-failure", parts }, "busy"))).toBe("4");
    expect(retryAfterHeader(notFound("package", "a"))).toBeUndefined();
  });

  test("is read from a response without a problem body", () => {
    const fault = faultFromResponse({ status: 503, body: "", retryAfter: "7", nowMs: 0 });
    expect(fault.detail).toEqual({ kind: "unavailable", dependency: "", retryAfterMs: 7000 });
  });
});
