import { readFileSync } from "node:fs";
import path from "node:path";
import { describeOnTarget, startKubeTarget, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { scenarioStatuses } from "../src/lifecycle/testing/scenario-statuses.ts";

const DEPLOY = path.resolve(import.meta.dirname, "../../../deploy");
const readYaml = (file: string): unknown => parse(readFileSync(path.join(DEPLOY, file), "utf8"));

interface HealthCheck {
  readonly kind: string;
  readonly inProgress: string;
  readonly failed: string;
  readonly current: string;
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { openAPIV3Schema: { properties: object } } }[] };
}

const CHECKS = (readYaml("gitops/flux/kustomization.yaml") as { spec: { healthCheckExprs: readonly HealthCheck[] } })
  .spec.healthCheckExprs;

/** Flux evaluates over the object; a rule of a schema evaluates over `self`. */
const overSelf = (expression: string): string =>
  expression.replaceAll(/\bstatus\.conditions\b/g, "self.status.conditions");

/**
 * A kind with the schema of ClassRuntime and without a status subresource, whose validation rules name the health checks
 * that hold. So the API server evaluates the expressions, as typed CEL.
 */
function judgingDefinition({ inProgress, failed, current }: HealthCheck): unknown {
  const [version] = (readYaml("crds/classruntimes.oaas.io.yaml") as Definition).spec.versions;
  const { status } = (version?.schema.openAPIV3Schema.properties ?? {}) as { readonly status?: object };
  const rules = Object.entries({ inProgress, failed, current }).map(([message, expression]) => ({
    rule: `!(${overSelf(expression)})`,
    message,
  }));
  const schema = { type: "object", properties: { status }, "x-kubernetes-validations": rules };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "judgedclasses.test.oaas.io" },
    spec: {
      group: "test.oaas.io",
      names: { plural: "judgedclasses", singular: "judgedclass", kind: "JudgedClass", listKind: "JudgedClassList" },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

/** Flux takes the first that holds, in this order, and waits if none does. */
function firstOf(stderr: string): string {
  return ["inProgress", "failed", "current"].find((name) => new RegExp(`\\b${name}\\b`).test(stderr)) ?? "none";
}

describeOnTarget("health checks for GitOps on an API server", { needs: ["kubectl"] }, () => {
  let cluster: KubernetesUnderTest;
  beforeAll(async () => {
    cluster = await startKubeTarget();
    const apply = async (object: unknown): Promise<void> => {
      const { exitCode, stderr } = await cluster.kubectl(["create", "-f", "-"], { stdin: JSON.stringify(object) });
      expect(exitCode, stderr).toBe(0);
    };
    const [check] = CHECKS;
    if (check === undefined) throw new Error("no health check");
    await apply(judgingDefinition(check));
    await apply(readYaml("crds/classruntimes.oaas.io.yaml"));
    await cluster.kubectl(["wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"]);
  }, 300_000);
  afterAll(() => cluster.close());

  test("the expressions of Flux are the same for every kind", () => {
    expect(CHECKS.map(({ kind }) => kind)).toEqual([
      "ClassRuntime",
      "DeploymentRecord",
      "DeploymentTemplate",
      "EnvironmentConfig",
    ]);
    expect(new Set(CHECKS.map(({ inProgress, failed, current }) => inProgress + failed + current)).size).toBe(1);
  });

  test("the expressions of Flux judge every recorded status as its phase", async () => {
    const recorded = scenarioStatuses().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const names = new Set<string>();
    for (const { name, status } of recorded) {
      const object = { apiVersion: "test.oaas.io/v1", kind: "JudgedClass", metadata: { name: "a" }, status };
      const text = JSON.stringify(object);
      if (names.has(text)) continue;
      names.add(text);
      const { stderr } = await cluster.kubectl(["create", "--dry-run=server", "-f", "-"], { stdin: text });
      const isStalled = status.conditions?.some(({ type }) => type === "Stalled") ?? false;
      const expected = status.phase === "available" ? "current" : isStalled ? "failed" : "inProgress";
      expect(firstOf(stderr), `${name}: ${stderr}`).toBe(expected);
      expect(stderr, name).not.toMatch(/no such key|evaluat|compil/i);
    }
    expect(names.size).toBeGreaterThan(50);
  }, 300_000);

  test("kubectl wait follows the condition Ready", async () => {
    const { exitCode, stderr } = await cluster.kubectl(["create", "-f", "-"], {
      stdin: JSON.stringify({
        apiVersion: "oaas.io/v1alpha1",
        kind: "ClassRuntime",
        metadata: { name: "shop" },
        spec: {
          package_class_key: "shop.Order",
          functions: [{ function_key: "place", provision_config: { container_image: "example.test/fn:1" } }],
        },
      }),
    });
    expect(exitCode, stderr).toBe(0);
    const wait = () => cluster.kubectl(["wait", "--for=condition=Ready", "--timeout=2s", "classruntime/shop"]);
    expect((await wait()).exitCode).toBe(1);
    const available = scenarioStatuses().find(({ status }) => status.phase === "available");
    const patch = JSON.stringify({ status: { conditions: available?.status.conditions } });
    await cluster.kubectl(["patch", "classruntime", "shop", "--subresource=status", "--type=merge", "-p", patch]);
    expect((await wait()).exitCode).toBe(0);
  });
});
