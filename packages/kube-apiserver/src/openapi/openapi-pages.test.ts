import { describe, expect, it } from "vitest";
import type { CustomResourceDefinition, JsonObject } from "@oaas/kube-core";
import type { ApiResponse } from "../api.ts";
import { discoveryPages } from "../discovery/discovery-pages.ts";
import { builtInKinds } from "../kinds/built-in/built-in-kinds.ts";
import { customKind } from "../kinds/custom/crd-kinds.ts";
import { KindRegistry } from "../kinds/kind-registry.ts";
import type { PathHandler } from "../request/routing/router.ts";
import { openApiPages } from "./openapi-pages.ts";

const GADGETS: CustomResourceDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.probe.test" },
  spec: {
    group: "probe.test",
    scope: "Namespaced",
    names: { plural: "gadgets", kind: "Gadget", shortNames: ["gd"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                description: "Wanted.",
                properties: { q: { "x-kubernetes-int-or-string": true } },
              },
            },
          },
        },
      },
    ],
  },
} as unknown as CustomResourceDefinition;

async function get(
  page: PathHandler,
  target: string,
  headers: Record<string, string> = {},
): Promise<ApiResponse | undefined> {
  const request = { method: "GET", target, headers, body: "", signal: new AbortController().signal };
  return page.handle(request, target.split("?")[0] ?? "", new URLSearchParams(target.split("?")[1] ?? ""));
}

const json = (answer: ApiResponse | undefined): JsonObject => JSON.parse(answer?.body as string) as JsonObject;

describe("OpenAPI documents", () => {
  const kinds = new KindRegistry(builtInKinds());
  const page = openApiPages(kinds);

  it("contain every referenced type", async () => {
    kinds.define("gadgets", customKind(GADGETS));
    const { paths } = json(await get(page, "/openapi/v3")) as unknown as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    expect(Object.keys(paths)).toContain("apis/probe.test/v1");
    for (const { serverRelativeURL } of Object.values(paths)) {
      const answer = await get(page, serverRelativeURL);
      const { schemas } = json(answer)["components"] as { schemas: object };
      for (const [, name = ""] of ((answer?.body ?? "") as string).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
        expect(Object.keys(schemas), serverRelativeURL).toContain(name);
      }
    }
  });

  it("list dryRun and fieldValidation parameters, also for custom kinds", async () => {
    kinds.define("gadgets", customKind(GADGETS));
    const { paths, components } = json(await get(page, "/openapi/v3/apis/probe.test/v1")) as unknown as {
      paths: Record<string, { patch: { parameters: { name: string }[] } }>;
      components: { schemas: Record<string, JsonObject> };
    };
    const { patch } = paths["/apis/probe.test/v1/namespaces/{namespace}/gadgets/{name}"]!;
    expect(patch.parameters.map(({ name }) => name)).toEqual(["dryRun", "fieldManager", "fieldValidation", "force"]);
    expect(components.schemas["test.probe.v1.Gadget"]).toMatchObject({
      "x-kubernetes-group-version-kind": [{ group: "probe.test", kind: "Gadget", version: "v1" }],
      properties: {
        spec: { description: "Wanted.", properties: { q: { anyOf: [{ type: "integer" }, { type: "string" }] } } },
      },
    });
  });

  it("keep their ETag until the kinds change, and return 304", async () => {
    const hashOf = async (): Promise<string> =>
      (await get(page, "/openapi/v3/apis/probe.test/v1"))?.headers["etag"] ?? "";
    kinds.define("gadgets", customKind(GADGETS));
    const before = await hashOf();
    kinds.define("gadgets", customKind({ ...GADGETS }));
    expect(await hashOf()).toBe(before);
    const again = await get(page, "/openapi/v3/apis/probe.test/v1", { "if-none-match": before });
    expect(again).toMatchObject({ status: 304, body: "" });
    const [version] = GADGETS.spec.versions;
    kinds.define(
      "gadgets",
      customKind({ ...GADGETS, spec: { ...GADGETS.spec, versions: [{ ...version!, subresources: {} }] } }),
    );
    expect(await hashOf()).not.toBe(before);
    kinds.define("gadgets", undefined);
    expect(await get(page, "/openapi/v3/apis/probe.test/v1")).toBeUndefined();
  });

  it("return 406 to clients that accept only the v2 protobuf form", async () => {
    expect(
      await get(page, "/openapi/v2", { accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf" }),
    ).toMatchObject({ status: 406 });
    expect(json(await get(page, "/openapi/v2", { accept: "application/json" }))["swagger"]).toBe("2.0");
  });
});

describe("discovery", () => {
  it("follows definitions in legacy and aggregated form", async () => {
    const kinds = new KindRegistry(builtInKinds());
    const page = discoveryPages(kinds);
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    expect(await get(page, "/apis/probe.test/v1")).toBeUndefined();
    const before = await get(page, "/apis", { accept });
    kinds.define("gadgets", customKind(GADGETS));
    const after = await get(page, "/apis", { accept });
    expect(after?.headers["etag"]).not.toBe(before?.headers["etag"]);
    expect(await get(page, "/apis", { accept, "if-none-match": after?.headers["etag"] ?? "" })).toMatchObject({
      status: 304,
    });
    expect(json(after)["items"]).toContainEqual(expect.objectContaining({ metadata: { name: "probe.test" } }));
    expect(json(await get(page, "/apis/probe.test/v1"))["resources"]).toMatchObject([
      { name: "gadgets", shortNames: ["gd"], storageVersionHash: "wjhHfalxPKM=" },
      { name: "gadgets/status", kind: "Gadget", verbs: ["get", "patch", "update"] },
    ]);
  });
});
