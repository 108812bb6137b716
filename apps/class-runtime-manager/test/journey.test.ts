import { readFileSync } from "node:fs";
import path from "node:path";
import { DeploymentService, FindingLevel, Verdict, type Finding } from "@oaas/contracts/grpc";
import { describeOnTarget, eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ControllerFixture } from "./support/controller-fixture.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const example = (file: string): string => readFileSync(path.join(ROOT, "examples", file), "utf8");

describeOnTarget("the journey of a class, with kubectl", { needs: ["kubectl"] }, () => {
  let lab: ControllerFixture;
  let folder: RunFolder;
  let crm: ManagerProcess;

  const kubectl = (command: string, stdin?: string): Promise<string> => lab.kubectl(command, stdin);
  const becomes = (namespace: string, name: string, phase: string, reason?: string) =>
    lab.waitForStatus(
      namespace,
      name,
      `${phase} ${reason ?? ""}`,
      (status) => status.phase === phase && status.reason === reason,
    );
  /** Every object of the namespace, of every kind that can be listed; without events, which outlive what they tell of. */
  const everything = async (namespace: string): Promise<readonly string[]> => {
    const kinds = (await kubectl("api-resources --namespaced --verbs=list -o name")).trim().split("\n");
    const listed = kinds.filter((kind) => !/^(events|bindings)/.test(kind)).join(",");
    const names = await kubectl(`get ${listed} -n ${namespace} -o name`);
    return names.trim().split("\n").toSorted();
  };
  /** What Kubernetes itself puts into a new namespace. */
  const makeNamespace = async (namespace: string): Promise<readonly string[]> => {
    await kubectl(`create namespace ${namespace}`);
    return eventually(async () => {
      const there = await everything(namespace);
      expect(there).toEqual(expect.arrayContaining(["configmap/kube-root-ca.crt", "serviceaccount/default"]));
      return there;
    });
  };
  /** Events are written beside the status, and may come a moment after it. */
  const describedAs = (what: string, expected: RegExp): Promise<string> =>
    eventually(async () => {
      const text = await kubectl(`describe ${what}`);
      expect(text).toMatch(expected);
      return text;
    });
  const explain = async (namespace: string, deploymentId: string) => {
    const answer = await crm.channel.client(DeploymentService).explainClassRuntime({ deploymentId, namespace });
    return answer.explanation!;
  };
  /** The first branch of the tree whose leaf is as deep as it goes. */
  const chainOf = (root: Finding): readonly Finding[] => {
    const tails = root.causes.map(chainOf).toSorted((a, b) => b.length - a.length);
    return [root, ...(tails[0] ?? [])];
  };
  const withImage = (yaml: string, from: string, to: string): string => {
    expect(yaml).toContain(from);
    return yaml.replace(from, to);
  };

  beforeAll(async () => {
    lab = await ControllerFixture.start();
    folder = await makeRunFolder("crm-journey");
    crm = await startManagerProcess(lab.cluster.kubeconfig, folder.path, {
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_LEADER_ELECTION_NAMESPACE: "kube-system",
    });
  });
  afterAll(async () => {
    expect(await crm?.stop()).toBe(0);
    await lab?.close();
    await folder?.remove();
  });

  test("three functions and their state: available, degraded by a broken image, mended, gone without a trace", async () => {
    const yaml = example("order-class/class-runtime.yaml");
    const before = await makeNamespace("shop");

    expect(await kubectl("apply -n shop -f -", yaml)).toContain("created");
    const well = await becomes("shop", "order", "available");
    expect(well.functions?.map(({ function_key, ready }) => [function_key, ready])).toEqual([
      ["Order.place", true],
      ["Order.cancel", true],
      ["Order.total", true],
    ]);
    expect(well.conditions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ type: "Available", status: "True" }),
        expect.objectContaining({ type: "Degraded", status: "False" }),
        expect.objectContaining({ type: "OdgmReady", status: "True" }),
      ]),
    );
    expect(well.resource_refs?.every(({ uid }) => uid !== undefined)).toBe(true);
    expect(await kubectl("get classruntimes -n shop")).toMatch(
      /NAME\s+CLASS\s+TEMPLATE\s+PHASE\s+AVAILABLE\s+AGE\norder\s+shop\.Order\s+dev\s+available\s+True/i,
    );
    expect(await kubectl("get deployments -n shop -l oaas.io/owner=order -o name")).toMatch(/^(.*\n){4}$/);
    const calm = await explain("shop", "order");
    expect([calm.verdict, calm.suggestedAction]).toEqual([Verdict.HEALTHY, ""]);

    await kubectl("apply -n shop -f -", withImage(yaml, "order-cancel:1.0.0", "order-cancel:missing"));
    const broken = await becomes("shop", "order", "degraded", "ImagePull");
    expect(broken.message).toContain("Order.cancel");
    expect(broken.message).toContain("order-cancel:missing");
    expect(await describedAs("crt order -n shop", /Warning\s+ImagePull/)).toContain("order-cancel:missing");
    expect(await kubectl("get crt order -n shop -o wide")).toMatch(/degraded.*order-cancel:missing/i);
    const ill = await eventually(async () => {
      const explanation = await explain("shop", "order");
      const levels = chainOf(explanation.root!).map(({ level }) => level);
      expect(levels).toEqual([
        FindingLevel.CLASS,
        FindingLevel.FUNCTION,
        FindingLevel.WORKLOAD,
        FindingLevel.POD,
        FindingLevel.EVENT,
      ]);
      return explanation;
    });
    expect(ill.verdict).toBe(Verdict.PERMANENT);
    expect(ill.suggestedAction).toMatch(/image/i);
    expect(ill.summary).toContain("Order.cancel");
    const chain = chainOf(ill.root!);
    expect(chain[1]?.name).toBe("Order.cancel");
    expect(chain.at(-1)?.message).toContain("Failed to pull image");

    await kubectl("apply -n shop -f -", withImage(yaml, "order-cancel:1.0.0", "order-cancel:crashing"));
    const crashing = await becomes("shop", "order", "degraded", "CrashLoop");
    expect(crashing.message).toContain("Order.cancel");

    await kubectl("apply -n shop -f -", yaml);
    const mended = await becomes("shop", "order", "available");
    expect(mended.conditions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: "Degraded", status: "False" })]),
    );
    const story = await kubectl("describe crt order -n shop");
    expect(story).toMatch(/Normal\s+Available/);

    await kubectl("delete crt order -n shop --timeout=150s");
    await eventually(async () => expect(await everything("shop")).toEqual(before), { what: "no trace" });
  });

  test("the sample of the first design, as it is: the same journey in its own words", async () => {
    const yaml = example("hello-class/deployment-record.yaml");
    const name = "deploymentrecord/hello-class";
    const before = await makeNamespace("hello");

    await kubectl("apply -n hello -f -", yaml);
    await becomes("hello", name, "available");
    expect(await kubectl("get deploymentrecords -n hello")).toMatch(/hello-class\s.*available/i);
    const images = "jsonpath={.items[*].spec.template.spec.containers[*].image}";
    expect(await kubectl(`get deployments -n hello -o ${images}`)).toContain("oprc-function:latest");
    const odgm = await kubectl("get deployments -n hello -o yaml");
    for (const collection of ["orders", "users"]) expect(odgm).toContain(collection);

    await kubectl("apply -n hello -f -", withImage(yaml, "oprc-function:latest", "oprc-function:missing"));
    const broken = await becomes("hello", name, "degraded", "ImagePull");
    expect(broken.message).toContain("oprc-function:missing");
    await describedAs(`${name} -n hello`, /Warning\s+ImagePull/);
    await kubectl("apply -n hello -f -", yaml);
    await becomes("hello", name, "available");

    await kubectl(`delete ${name} -n hello --timeout=150s`);
    await eventually(async () => expect(await everything("hello")).toEqual(before), { what: "no trace" });
  });
});
