import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { InvokeFunctionRequestSchema } from "@oaas/contracts/grpc";
import { classRuntime } from "@oaas/contracts/crd";
import { Fault } from "@oaas/foundation";
import { expect, test } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import { invokeFunction, type InvokeDeps } from "./invoke-function.ts";

const OBJECT = classRuntime.parse({
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "hello", namespace: "shop", uid: "u", resourceVersion: "1" },
  spec: {
    package_class_key: "shop.Hello",
    functions: [{ function_key: "greet", provision_config: { container_image: "x:1" } }],
  },
}) as StoredClass;

const sent: unknown[] = [];
const DEPS: InvokeDeps = {
  isAllowed: true,
  client: {
    proxyService: async (request) => {
      sent.push(request);
      return { status: 418, headers: { "content-type": "text/plain" }, body: new TextEncoder().encode("short") };
    },
  },
  serviceOf: async () => ({ name: "hello", port: "http" }),
};
const { signal } = new AbortController();

function invoke(
  over: Omit<MessageInitShape<typeof InvokeFunctionRequestSchema>, "$typeName" | "$unknown"> = {},
  deps: Partial<InvokeDeps> = {},
) {
  const request = create(InvokeFunctionRequestSchema, { deploymentId: "hello", functionKey: "greet", ...over });
  return invokeFunction(OBJECT, request, { ...DEPS, ...deps }, signal);
}

test("forwards the request with the function in a header, and returns any response", async () => {
  const body = new TextEncoder().encode("OaaS");
  const headers = { "X-Own": "1", Authorization: "Bearer x", Host: "y", "Transfer-Encoding": "chunked" };
  expect(await invoke({ body, path: "/a?b=c", headers })).toMatchObject({ status: 418 });
  expect(sent.at(-1)).toEqual({
    namespace: "shop",
    service: "hello",
    port: "http",
    method: "POST",
    path: "/a?b=c",
    headers: { "oaas-function": "greet", "x-own": "1" },
    body,
    maxBytes: 1024 * 1024,
  });
});

test("is disabled by default, and names the setting", async () => {
  await expect(invoke({}, { isAllowed: false })).rejects.toThrow("OPRC_CRM_FEATURES_INVOKE=true");
});

test("rejects invalid requests with every violation", async () => {
  const wrong = {
    method: "BREW",
    path: "a b",
    headers: { "x\r\ny": "1", z: "a\nb" },
    body: new Uint8Array(2 ** 20 + 1),
  };
  const fault = await invoke(wrong).then(
    () => undefined,
    (thrown: unknown) => Fault.from(thrown),
  );
  expect(fault?.kind === "invalid-argument" && fault.violations.map(({ path }) => path)).toEqual([
    "$.method",
    "$.path",
    "$.body",
    "$.headers",
    "$.headers",
  ]);
});

test.each(["/../secrets", "/a/%2e%2E/b", "/a/..", "/a%2f..%2fb"])("rejects the path %s", async (path) => {
  await expect(invoke({ path })).rejects.toThrow("$.path");
});

test("rejects a function that does not exist or has no Service", async () => {
  await expect(invoke({ functionKey: "other" })).rejects.toThrow("the class has greet");
  await expect(invoke({}, { serviceOf: async () => undefined })).rejects.toThrow("has no Kubernetes Service");
});
