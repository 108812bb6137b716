import { expect, test } from "vitest";
import { otherServerFault } from "./other-server.ts";

const HTML = "<!doctype html><html><head><title>Welcome to nginx!</title></head></html>";
const STATUS = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code: 404 });

test.each([
  { why: "a web page", status: 200, text: HTML, message: /it answers with a web page \("Welcome to nginx!"\)$/ },
  { why: "a page for an unknown path", status: 404, text: HTML, message: /it answers with a web page/ },
  { why: "a Kubernetes API server", status: 404, text: STATUS, message: /it is a Kubernetes API server$/ },
  { why: "another JSON API", status: 200, text: '{"ok":true}', message: /it is another JSON API$/ },
  { why: "another JSON API, unknown path", status: 404, text: '{"msg":"no"}', message: /it is another JSON API$/ },
  { why: "plain text", status: 404, text: "404 page not found", message: /its answer is not JSON$/ },
  { why: "a TLS port", status: 400, text: "Client sent an HTTP request to an HTTPS server.", message: /expects TLS/ },
  { why: "an empty list", status: 200, text: "[]", message: undefined },
  { why: "an error of an earlier version", status: 404, text: '{"error":"no"}', message: undefined },
  { why: "a page of a proxy", status: 502, text: HTML, message: undefined },
  { why: "a login page of a proxy", status: 401, text: HTML, message: undefined },
])("recognises $why", ({ status, text, message }) => {
  const fault = otherServerFault("http://x:1", "listPackages", { status, text });
  if (message === undefined) expect(fault).toBeUndefined();
  else expect(fault).toMatchObject({ kind: "failed-precondition", message: expect.stringMatching(message) as string });
});

test("accepts an object with any known field", () => {
  const health = (text: string) => otherServerFault("http://x:1", "getHealth", { status: 200, text });
  expect(health('{"status":"healthy"}')).toBeUndefined();
  expect(health('{"up":true}')?.message).toMatch(/another JSON API$/);
  expect(health("[]")?.message).toMatch(/another JSON API$/);
});
