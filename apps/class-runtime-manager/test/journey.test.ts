import { readFileSync } from "node:fs";
import path from "node:path";
import { DeploymentService, FindingLevel, Verdict, type Finding } from "@oaas/contracts/grpc";
import { describeOnTarget, eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const example = (file: string): string => readFileSync(path.join(ROOT, "examples", file), "utf8");

describeOnTarget("life of a class with kubectl", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let folder: RunFolder;
  let crm: ManagerProcess;

  const kubectl = (command: string, stdin?: string): Promise<string> => fixture.kubectl(command, stdin);
  const waitForPhase = (namespace: string, name: string, phase: string, reason?: string) =>
    fixture.waitForStatus(
      namespace,
      name,
      `${phase} ${reason ?? ""}`,
      (status) => status.phase === phase && status.reason === reason,
    );
  /** All objects of the namespace except events, which outlive their objects. */
  const listEverything = async (namespace: string): Promise<readonly string[]> => {
    const kinds = (await kubectl("api-resources --namespaced --verbs=list -o name")).trim().split("\n");
    const listed = kinds.filter((kind) => !/^(events|bindings)/.test(kind)).join(",");
    const names = await kubectl(`get ${listed} -n ${namespace} -o name`);
    return names.trim().split("\n").toSorted();
  };
  /** Creates a namespace and returns the objects that Kubernetes creates in it. */
  const createNamespace = async (namespace: string): Promise<readonly string[]> => {
    await kubectl(`create namespace ${namespace}`);
    return eventually(async () => {
      const objects = await listEverything(namespace);
      expect(objects).toEqual(expect.arrayContaining(["configmap/kube-root-ca.crt", "serviceaccount/default"]));
      return objects;
    });
  };
  /** Waits until `kubectl describe` matches: events may arrive after the status. */
  const describeUntil = (target: string, expected: RegExp): Promise<string> =>
    eventually(async () => {
      const text = await kubectl(`describe ${target}`);
      expect(text).toMatch(expected);
      return text;
    });
  const explain = async (namespace: string, deploymentId: string) => {
    const response = await crm.channel.client(DeploymentService).explainClassRuntime({ deploymentId, namespace });
    return response.explanation!;
  };
  /** The longest chain of causes. */
  const chainOf = (root: Finding): readonly Finding[] => {
    const tails = root.causes.map(chainOf).toSorted((a, b) => b.length - a.length);
    return [root, ...(tails[0] ?? [])];
  };
  const withImage = (yaml: string, from: string, to: string): string => {
    expect(yaml).toContain(from);
    return yaml.replace(from, to);
  };

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    folder = await makeRunFolder("crm-journey");
    crm = await startManagerProcess(fixture.cluster.kubeconfig, folder.path, {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_LEADER_ELECTION_NAMESPACE: "kube-system",
    });
  });
  afterAll(async () => {
    expect(await crm?.stop()).toBe(0);
    await fixture?.close();
    await folder?.remove();
  });

  test("becomes available, degrades on a missing image, recovers, and is deleted completely", async () => {
    const yaml = example("order-class/class-runtime.yaml");
    const before = await createNamespace("shop");

    expect(await kubectl("apply -n shop -f -", yaml)).toContain("created");
    const healthy = await waitForPhase("shop", "order", "available");
    expect(healthy.functions?.map(({ function_key, ready }) => [function_key, ready])).toEqual([
      ["Order.place", true],
      ["Order.cancel", true],
      ["Order.total", true],
    ]);
    expect(healthy.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "Available", status: "True" }),
        expect.objectContaining({ type: "Degraded", status: "False" }),
        expect.objectContaining({ type: "OdgmReady", status: "Unknown", reason: "NotChecked" }),
      ]),
    );
    expect(healthy.resource_refs?.every(({ uid }) => uid !== undefined)).toBe(true);
    expect(await kubectl("get classruntimes -n shop")).toMatch(
      /NAME\s+CLASS\s+TEMPLATE\s+PHASE\s+AVAILABLE\s+AGE\norder\s+shop\.Order\s+dev\s+available\s+True/i,
    );
    expect(await kubectl("get deployments -n shop -l oaas.io/owner=order -o name")).toMatch(/^(.*\n){3}$/);
    expect(await kubectl("get statefulsets -n shop -l oaas.io/owner=order -o name")).toMatch(/^(.*\n){1}$/);
    const explained = await explain("shop", "order");
    expect([explained.verdict, explained.suggestedAction]).toEqual([Verdict.HEALTHY, ""]);

    await kubectl("apply -n shop -f -", withImage(yaml, "order-cancel:1.0.0", "order-cancel:missing"));
    const broken = await waitForPhase("shop", "order", "degraded", "ImagePull");
    expect(broken.message).toContain("Order.cancel");
    expect(broken.message).toContain("order-cancel:missing");
    expect(await describeUntil("crt order -n shop", /Warning\s+ImagePull/)).toContain("order-cancel:missing");
    expect(await kubectl("get crt order -n shop -o wide")).toMatch(/degraded.*order-cancel:missing/i);
    const explanation = await eventually(async () => {
      const current = await explain("shop", "order");
      const levels = chainOf(current.root!).map(({ level }) => level);
      expect(levels).toEqual([
        FindingLevel.CLASS,
        FindingLevel.FUNCTION,
        FindingLevel.WORKLOAD,
        FindingLevel.POD,
        FindingLevel.EVENT,
      ]);
      return current;
    });
    expect(explanation.verdict).toBe(Verdict.PERMANENT);
    expect(explanation.suggestedAction).toMatch(/image/i);
    expect(explanation.summary).toContain("Order.cancel");
    const chain = chainOf(explanation.root!);
    expect(chain[1]?.name).toBe("Order.cancel");
    expect(chain.at(-1)?.message).toContain("Failed to pull image");

    await kubectl("apply -n shop -f -", withImage(yaml, "order-cancel:1.0.0", "order-cancel:crashing"));
    const crashing = await waitForPhase("shop", "order", "degraded", "CrashLoop");
    expect(crashing.message).toContain("Order.cancel");

    await kubectl("apply -n shop -f -", yaml);
    const recovered = await waitForPhase("shop", "order", "available");
    expect(recovered.conditions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: "Degraded", status: "False" })]),
    );
    const description = await kubectl("describe crt order -n shop");
    expect(description).toMatch(/Normal\s+Available/);

    await kubectl("delete crt order -n shop --timeout=150s");
    await eventually(async () => expect(await listEverything("shop")).toEqual(before), {
      what: "only the initial objects",
    });
  });

  test("a DeploymentRecord of the design document has the same life", async () => {
    const yaml = example("hello-class/deployment-record.yaml");
    const name = "deploymentrecord/hello-class";
    const before = await createNamespace("hello");

    await kubectl("apply -n hello -f -", yaml);
    await waitForPhase("hello", name, "available");
    expect(await kubectl("get deploymentrecords -n hello")).toMatch(/hello-class\s.*available/i);
    const images = "jsonpath={.items[*].spec.template.spec.containers[*].image}";
    expect(await kubectl(`get deployments -n hello -o ${images}`)).toContain("oprc-function:latest");
    const odgm = await kubectl("get deployments -n hello -o yaml");
    for (const collection of ["orders", "users"]) expect(odgm).toContain(collection);

    await kubectl("apply -n hello -f -", withImage(yaml, "oprc-function:latest", "oprc-function:missing"));
    const broken = await waitForPhase("hello", name, "degraded", "ImagePull");
    expect(broken.message).toContain("oprc-function:missing");
    await describeUntil(`${name} -n hello`, /Warning\s+ImagePull/);
    await kubectl("apply -n hello -f -", yaml);
    await waitForPhase("hello", name, "available");

    await kubectl(`delete ${name} -n hello --timeout=150s`);
    await eventually(async () => expect(await listEverything("hello")).toEqual(before), {
      what: "only the initial objects",
    });
  });
});
