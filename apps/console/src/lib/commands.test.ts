import { expect, test } from "vitest";
import { curl, kubectlObject, shellWord } from "./commands.ts";

test("quotes what a shell would interpret", () => {
  expect([shellWord("a-b/c"), shellWord("a b"), shellWord("it's")]).toEqual(["a-b/c", "'a b'", `'it'\\''s'`]);
});

test("a request contains no token", () => {
  expect(curl("http://127.0.0.1:8080", "/api/v1/deployments?condition=Down&limit=5").text).toBe(
    `curl -H "Authorization: Bearer $OAAS_TOKEN" 'http://127.0.0.1:8080/api/v1/deployments?condition=Down&limit=5'`,
  );
});

test("names the group of kinds of other projects, and quotes", () => {
  const object = { kind: "Service", name: "web", namespace: "shop" };
  expect(kubectlObject({ ...object, api_version: "v1" }).text).toBe("kubectl -n shop get service web -o yaml");
  expect(kubectlObject({ ...object, api_version: "serving.knative.dev/v1" }).text).toBe(
    "kubectl -n shop get service.v1.serving.knative.dev web -o yaml",
  );
  expect(kubectlObject({ kind: "Deployment", name: "a b", api_version: "apps/v1" }).text).toBe(
    "kubectl -n default get deployment 'a b' -o yaml",
  );
});
