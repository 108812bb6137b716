import { expect, it } from "vitest";
import { endpointUrl, findBaseUrlProblem } from "./base-url.ts";

it.each([
  ["http://p:9090", "http://p:9090/api/v1/query"],
  ["http://p:9090/", "http://p:9090/api/v1/query"],
  ["https://vm/select/0/prometheus", "https://vm/select/0/prometheus/api/v1/query"],
  ["https://vm/prefix/api/v1/", "https://vm/prefix/api/v1/query"],
])("%s: queries %s", (base, expected) => {
  expect(findBaseUrlProblem(base)).toBeUndefined();
  expect(endpointUrl(base, "query").href).toBe(expected);
});

it.each([
  ["prometheus:9090", /http:\/\//],
  ["ftp://p", /http:\/\//],
  ["http://user:secret@p", /credentials/],
  ["http://p:9090/graph", /page/],
  ["http://p:9090/#tab", /page/],
])("rejects %s without repeating it", (base, message) => {
  const problem = findBaseUrlProblem(base);
  expect(problem?.message).toMatch(message);
  expect(JSON.stringify(problem)).not.toContain("secret");
});
