import { Fault } from "@oaas/foundation";

/** The query is wrong: its syntax, a type, a parameter. */
export function invalidQuery(message: string): Fault {
  return new Fault({ kind: "invalid-argument", subject: "query", violations: [{ path: "$.query", message }] }, message);
}

/** The query is right, but not for these series, such as a match that is not unique. */
export function failedQuery(message: string): Fault {
  return new Fault({ kind: "failed-precondition", subject: "query" }, message);
}

/** Valid PromQL that this evaluator does not implement. */
export function unsupportedQuery(feature: string): Fault {
  return new Fault({ kind: "unimplemented", feature }, `${feature} is not supported`);
}

/** The query needs more work than the limit allows. */
export function expensiveQuery(limit: string, message: string): Fault {
  return new Fault({ kind: "resource-exhausted", limit }, message);
}
