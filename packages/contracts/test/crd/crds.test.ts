import { describeWith, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { classRuntime, KINDS } from "../../src/crd/index.ts";
import {
  classRuntimeSample,
  environmentSample,
  README_SAMPLE,
  SPARSE_OBJECTS,
  fullRecord,
  templateSample,
  UPSTREAM_CLASS_RUNTIME,
} from "../../src/crd/testing/samples.ts";
import { WRONG_OBJECTS } from "../../src/crd/testing/wrong-objects.ts";
import { createRaw, startWithCrds, succeed, TRIAL } from "./api-server.ts";

describeWith(["kubernetes", "etcd", "kubectl"], "the CRDs on a real API server", () => {
  let cluster: KubernetesUnderTest;

  beforeAll(async () => {
    cluster = await startWithCrds();
  });
  afterAll(async () => {
    await cluster?.close();
  });

  const kubectl = (args: readonly string[], stdin?: string) => succeed(cluster, args, stdin);
  const read = async (what: string) =>
    JSON.parse(await kubectl(["get", what, "-o", "json"])) as { spec: object; status?: object };

  test("all four are established without schema warnings", async () => {
    const { items } = JSON.parse(await kubectl(["get", "crd", "-o", "json"])) as {
      items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
    };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(KINDS.map(({ plural }) => `${plural}.oaas.io`).sort());
    for (const { status } of items) {
      expect(Object.fromEntries(status.conditions.map(({ type, status: value }) => [type, value]))).toEqual({
        NamesAccepted: "True",
        Established: "True",
      });
    }
  });

  describe("objects of other tools apply unchanged", () => {
    test.each([
      ["client side", []],
      ["server side", ["--server-side"]],
    ])("the sample of the original README, %s", async (_, flags) => {
      const applied = await kubectl(["apply", "--validate=strict", ...flags, "-f", "-"], README_SAMPLE);
      expect(applied).toMatch(/^deploymentrecord.oaas.io\/hello-class (created|serverside-applied)$/m);
      expect(await read("deploymentrecord/hello-class")).toMatchObject({
        spec: {
          selected_template: "dev",
          addons: ["odgm"],
          function: { image: "ghcr.io/pawissanutt/oprc-function:latest", port: 8080 },
          odgm_config: { collections: ["orders", "users"] },
        },
      });
      await kubectl(["delete", "deploymentrecord/hello-class"]);
    });

    test("a ClassRuntime of the Rust manager, with nulls", async () => {
      const { status, body } = await createRaw(cluster, UPSTREAM_CLASS_RUNTIME, "fieldValidation=Strict");
      expect(body.message).toBeUndefined();
      expect(status).toBe(201);
      const sent = JSON.parse(UPSTREAM_CLASS_RUNTIME) as { spec: object };
      expect(body["spec"]).toEqual(sent.spec);
      await kubectl(["apply", "--validate=strict", "-f", "-"], UPSTREAM_CLASS_RUNTIME);
      await kubectl(
        ["apply", "--validate=strict", "--server-side", "--force-conflicts", "-f", "-"],
        UPSTREAM_CLASS_RUNTIME,
      );
      const stored = classRuntime.parse(await read("crt/record-k3x9f2ab"));
      expect(stored.spec.functions?.[0]?.provision_config).not.toHaveProperty("cpu_limit");
    });

    test.each([
      ["every field of the design documents", fullRecord],
      ["a small class runtime", classRuntimeSample],
      ["a template with placeholders", templateSample],
      ["an environment", environmentSample],
    ])("%s, and nothing of it is pruned", async (_, object) => {
      await kubectl(["apply", "--validate=strict", "--server-side", "-f", "-"], JSON.stringify(object));
      const stored = await read(`${object.kind.toLowerCase()}/${object.metadata.name}`);
      expect(stored.spec).toMatchObject(object.spec);
    });
  });

  describe("defaults", () => {
    test("are set where the schema has them only", async () => {
      const { body } = await createRaw(
        cluster,
        JSON.stringify({
          ...classRuntimeSample,
          spec: { ...classRuntimeSample.spec, enforcement: {}, state_spec: {}, odgm_config: {} },
        }),
      );
      expect(body["spec"]).toEqual({
        package_class_key: "shop.Order",
        functions: [
          {
            function_key: "Order.place",
            provision_config: { container_image: "registry.local/order:1", max_concurrency: 0, need_http2: false },
          },
        ],
        enforcement: { mode: "observe" },
        state_spec: { persistent: false },
        odgm_config: {},
      });
    });

    test.each(SPARSE_OBJECTS)("equal the defaults of our code: $kind", async (object) => {
      const { body } = await createRaw(cluster, JSON.stringify(object));
      const schema = KINDS.find(({ kind }) => kind === object.kind)!.schema;
      expect(body["spec"]).toEqual(schema.parse(object).spec);
    });
  });

  describe("kubectl", () => {
    test("get shows the printer columns, by short name and by category", async () => {
      await kubectl(["apply", "--server-side", "-f", "-"], JSON.stringify(classRuntimeSample));
      const status = {
        phase: "degraded",
        message: "Order.place: ImagePull",
        template: { name: "edge", basis: "score" },
        conditions: [{ type: "Available", status: "False", reason: "ImagePull" }],
      };
      await kubectl(["patch", "crt/order", "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
      const [header = "", row = ""] = (await kubectl(["get", "crt", "order"])).split("\n");
      expect(header.split(/\s+/)).toEqual(["NAME", "CLASS", "TEMPLATE", "PHASE", "AVAILABLE", "AGE"]);
      expect(row).toMatch(/^order\s+shop\.Order\s+edge\s+degraded\s+False\s+\d+s$/);
      expect(await kubectl(["get", "crt", "order", "-o", "wide"])).toContain("Order.place: ImagePull");
      expect(await kubectl(["get", "oaas"])).toContain("classruntime.oaas.io/order");
    });

    test("explain shows field descriptions", async () => {
      expect(await kubectl(["explain", "crt.spec.functions.provision_config.min_scale"])).toContain("Minimum replicas");
      expect(await kubectl(["explain", "deploymentrecord.spec.odgm_config.collections"])).toContain("partition_count");
    });
  });

  describe("status", () => {
    const spec = { package_class_key: "shop.Other" };
    const status = { phase: "available", observedGeneration: 1 };

    test("writes of the object and of its status are independent", async () => {
      await kubectl(
        ["apply", "-f", "-"],
        JSON.stringify({ ...classRuntimeSample, metadata: { name: "split" }, status }),
      );
      expect((await read("crt/split")).status).toBeUndefined();
      await kubectl([
        "patch",
        "crt/split",
        "--subresource=status",
        "--type=merge",
        "-p",
        JSON.stringify({ spec, status }),
      ]);
      expect(await read("crt/split")).toMatchObject({
        spec: classRuntimeSample.spec,
        status,
        metadata: { generation: 1 },
      });
    });

    test("two managers own a condition each", async () => {
      const part = (type: string) =>
        JSON.stringify({
          apiVersion: classRuntimeSample.apiVersion,
          kind: classRuntimeSample.kind,
          metadata: { name: "split" },
          status: { conditions: [{ type, status: "True" }] },
        });
      for (const [manager, type] of [
        ["oprc-crm", "Available"],
        ["oprc-crm-enforcer", "NfrEnforced"],
      ] as const) {
        await kubectl(
          ["apply", "--server-side", "--subresource=status", `--field-manager=${manager}`, "-f", "-"],
          part(type),
        );
      }
      const { status: stored } = (await read("crt/split")) as { status: { conditions: { type: string }[] } };
      expect(stored.conditions.map(({ type }) => type).sort()).toEqual(["Available", "NfrEnforced"]);
    });

    test("rejects an unknown phase by name", async () => {
      const wrong = JSON.stringify({ status: { phase: "Available" } });
      const { stderr, exitCode } = await cluster.kubectl([
        "patch",
        "crt/split",
        "--subresource=status",
        "--type=merge",
        "-p",
        wrong,
      ]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("status.phase");
    });
  });

  describe("unknown fields", () => {
    const object = JSON.stringify({
      ...classRuntimeSample,
      spec: {
        ...classRuntimeSample.spec,
        selectedTemplate: "dev",
        functions: [{ ...classRuntimeSample.spec.functions?.[0], imagee: "x" }],
      },
    });

    test("are pruned", async () => {
      const { status, body } = await createRaw(cluster, object);
      expect(status).toBe(201);
      expect(JSON.stringify(body["spec"])).not.toMatch(/selectedTemplate|imagee/);
    });

    test("are reported by strict validation, as in kubectl", async () => {
      const { stderr, exitCode } = await cluster.kubectl(["create", "-n", TRIAL, "--dry-run=server", "-f", "-"], {
        stdin: object,
      });
      expect(exitCode).toBe(1);
      expect(stderr).toContain('unknown field "spec.selectedTemplate"');
      expect(stderr).toContain('unknown field "spec.functions[0].imagee"');
    });
  });

  describe("invalid objects", () => {
    test.each(WRONG_OBJECTS.filter((row) => row.only !== "code"))(
      "$why: refused by name",
      async ({ object, field }) => {
        const { status, body } = await createRaw(cluster, JSON.stringify(object));
        expect(status, JSON.stringify(body)).toBe(422);
        expect(body.message).toContain(field);
      },
    );

    test.each(WRONG_OBJECTS.filter((row) => row.only === "code"))(
      "$why: accepted by the server",
      async ({ object }) => {
        const { status, body } = await createRaw(cluster, JSON.stringify(object));
        expect(body.message).toBeUndefined();
        expect(status).toBe(201);
      },
    );

    test("kubectl shows the message of the rule", async () => {
      const object = { ...classRuntimeSample, spec: { package_class_key: "shop.Order" } };
      const { stderr } = await cluster.kubectl(["apply", "-n", TRIAL, "-f", "-"], { stdin: JSON.stringify(object) });
      expect(stderr).toContain("a class needs functions or state");
    });
  });
});
