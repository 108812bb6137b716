import { expect, test } from "vitest";
import { curl, shellWord } from "./commands.ts";

test("quotes what a shell would interpret", () => {
  expect([shellWord("a-b/c"), shellWord("a b"), shellWord("it's")]).toEqual(["a-b/c", "'a b'", `'it'\\''s'`]);
});

test("a request contains no token", () => {
  expect(curl("http://127.0.0.1:8080", "/api/v1/deployments?condition=Down&limit=5").text).toBe(
    `curl -H "Authorization: Bearer $OAAS_TOKEN" 'http://127.0.0.1:8080/api/v1/deployments?condition=Down&limit=5'`,
  );
});
