import { conflict, invalidArgument, unavailable } from "@oaas/foundation";
import type { Problem } from "@oaas/contracts/rest";
import { describe, expect, test } from "vitest";
import { problemReply } from "./problem-reply.ts";

const AT = { instance: "/api/v1/packages", correlationId: "c-1" };

function problemOf(mistakes: number): Problem {
  const violations = Array.from({ length: mistakes }, (_, at) => ({ path: `$.list[${at}]`, message: "is wrong" }));
  const { fault, reply } = problemReply(invalidArgument("the body", violations), AT);
  const problem = JSON.parse(reply.content?.text ?? "") as Problem;
  expect(problem).toMatchObject({ status: 400, correlationId: "c-1", error: fault.message, detail: fault.message });
  return problem;
}

describe("the violations of a request", () => {
  test("are all in the list and in the message", () => {
    const { violations, error } = problemOf(20);
    expect(violations).toHaveLength(20);
    expect(error).toMatch(/^the body is invalid: \$\.list\[0\]: is wrong; .*\$\.list\[19\]: is wrong$/);
  });

  test("beyond the limit of the message are counted there", () => {
    const { violations, error } = problemOf(100);
    expect(violations).toHaveLength(100);
    expect(error).toMatch(/^the body is invalid: \$\.list\[0\]: is wrong; .*\$\.list\[19\]: is wrong; and 80 more$/);
  });

  test("beyond the limit of the list are counted in both", () => {
    const { violations, error } = problemOf(60_000);
    expect(violations).toHaveLength(101);
    expect(violations?.at(-1)).toMatchObject({ path: "$", message: "has 59900 more violations that are not listed" });
    expect(error).toMatch(/and 59980 more$/);
  });
});

test.each([
  { fault: unavailable("etcd", "gone"), after: "1" },
  { fault: unavailable("etcd", "gone", { retryAfterMs: 2_500 }), after: "3" },
  { fault: conflict("request", "k", { code: "OAAS_REQUEST_RUNNING" }), after: "1" },
  { fault: conflict("package", "a"), after: undefined },
])("$fault.code has retry-after $after", ({ fault, after }) => {
  expect(problemReply(fault, AT).reply.headers?.["retry-after"]).toBe(after);
});
