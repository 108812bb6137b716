import type { KubeObject } from "@oaas/kube-core";
import { describeOnTarget, eventually, kubeTarget } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClassManager } from "../src/controller/class-manager.ts";
import { classManifest, ControllerFixture, FACTS } from "./support/controller-fixture.ts";
import { startResizingNodes, type ResizingNodes } from "./support/resizing-nodes.ts";
import { startQuickEnforcer, type QuickEnforcer } from "./support/quick-enforcer.ts";

const NAMESPACE = "resized";

interface Pod extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly name: string; readonly uid: string };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly resources: Resources }[] };
  readonly status: {
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly resources?: object }[];
  };
}

interface Resources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
}

describeOnTarget("pods resized in place", { needs: ["kubectl"] }, () => {
  let fixture: ControllerFixture;
  let crm: ClassManager;
  let nodes: ResizingNodes | undefined;
  let limit: string;

  beforeAll(async () => {
    fixture = await ControllerFixture.start();
    await fixture.kubectl(`create namespace ${NAMESPACE}`);
    crm = await fixture.startController({ namespaces: [NAMESPACE], facts: { ...FACTS, enforcement: "full" } });
    if (kubeTarget() === "real") nodes = startResizingNodes(fixture.createClient(), NAMESPACE);
  });
  afterAll(async () => {
    await nodes?.stop();
    await fixture.close();
  });

  const applyClass = async (name: string, over: object = {}): Promise<void> => {
    const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", min_scale: 2 } };
    const enforcement = { mode: "enforce", dimensions: ["cpu", "memory"] };
    await fixture.apply(NAMESPACE, classManifest(name, { functions: [fn], enforcement, ...over }));
    await fixture.waitForPhase(NAMESPACE, name, "available");
    // The server rejects a resize before the node reports the resources.
    await eventually(async () =>
      expect((await podsOf(name)).map(({ status }) => status.containerStatuses?.[0]?.resources)).toEqual([
        expect.anything(),
        expect.anything(),
      ]),
    );
  };
  const enforce = (name: string, wanted: Partial<QuickEnforcer["wanted"]>): QuickEnforcer => {
    const enforcer = startQuickEnforcer(crm, { namespace: NAMESPACE, name });
    Object.assign(enforcer.wanted, wanted);
    return enforcer;
  };
  const podsOf = async (name: string): Promise<readonly Pod[]> => {
    const text = await fixture.kubectl(
      `get pods -n ${NAMESPACE} -l oaas.io/owner=${name} -o json --show-managed-fields`,
    );
    const { items } = JSON.parse(text) as { readonly items: readonly Pod[] };
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  };
  const cpuOf = (pods: readonly Pod[]): readonly (string | undefined)[] =>
    pods.map(({ spec }) => spec.containers[0]?.resources.requests["cpu"]);
  const waitForCpu = (name: string, cpu: string): Promise<readonly Pod[]> =>
    eventually(
      async () => {
        const pods = await podsOf(name);
        expect(cpuOf(pods)).toEqual([cpu, cpu]);
        return pods;
      },
      { timeoutMs: 90_000, what: `pods of ${name} with ${cpu}` },
    );
  const eventsOf = async (name: string, reason: string): Promise<readonly string[]> => {
    await crm.events.flush();
    const text = await fixture.kubectl(
      `get events -n ${NAMESPACE} --field-selector involvedObject.name=${name} -o json`,
    );
    const { items } = JSON.parse(text) as { readonly items: readonly { reason: string; message: string }[] };
    return items.filter((event) => event.reason === reason).map(({ message }) => message);
  };
  const uidsOf = (pods: readonly Pod[]): readonly string[] => pods.map(({ metadata }) => metadata.uid).toSorted();

  test("changes CPU and memory of running pods, without a restart and without a roll-out", async () => {
    await applyClass("web");
    const before = await podsOf("web");
    limit = before[0]?.spec.containers[0]?.resources.limits["cpu"] ?? "";
    const sets = await fixture.listOwned(NAMESPACE, "rs", "web");
    const generation = (await fixture.get(NAMESPACE, "deploy", "web"))?.metadata.generation;
    const enforcer = enforce("web", { cpu: 400, memory: 700 * 1024 * 1024 });
    const after = await waitForCpu("web", "400m");
    await eventually(async () => {
      const [pod] = await podsOf("web");
      // A whole number of bytes, at most the tolerance below the target.
      expect(Number(pod?.spec.containers[0]?.resources.requests["memory"])).toBeGreaterThan(660 * 1024 * 1024);
    });
    await enforcer.stop();
    expect(uidsOf(after)).toEqual(uidsOf(before));
    expect(after.flatMap(({ status }) => status.containerStatuses ?? []).filter((one) => one.restartCount > 0)).toEqual(
      [],
    );
    expect(await fixture.listOwned(NAMESPACE, "rs", "web")).toEqual(sets);
    expect((await fixture.get(NAMESPACE, "deploy", "web"))?.metadata.generation).toBe(generation);
    for (const { metadata } of after)
      expect(metadata.managedFields?.filter(({ subresource }) => subresource === "resize")).toMatchObject([
        { manager: "oprc-crm-enforcer", operation: "Apply" },
      ]);
    expect(await eventsOf("web", "NFRApplied")).toEqual(
      expect.arrayContaining([expect.stringContaining("pods of Deployment/web resources.requests.cpu, in place")]),
    );
    expect(await eventsOf("web", "NFRApplyFailed")).toEqual([]);
  });

  test("resizes a pod that is created later", async () => {
    const [first] = await podsOf("web");
    await fixture.kubectl(`delete pod ${first?.metadata.name} -n ${NAMESPACE} --wait=false`);
    await eventually(async () => expect(uidsOf(await podsOf("web"))).not.toContain(first?.metadata.uid), {
      timeoutMs: 90_000,
    });
    await waitForCpu("web", "400m");
  });

  test("returns pods to the template when the class leaves the mode", async () => {
    await fixture.kubectl(`annotate crt web -n ${NAMESPACE} oaas.io/enforcement=observe`);
    const pods = await waitForCpu("web", "50m");
    expect(pods[0]?.spec.containers[0]?.resources.limits["cpu"]).toBe(limit);
  });

  test("reports a resize that the server rejects, and changes nothing", async () => {
    // Requests equal limits with this requirement: a smaller request would be another QoS class.
    await applyClass("strict", { nfr_requirements: { max_latency_ms: 50 } });
    const [cpu] = cpuOf(await podsOf("strict"));
    const enforcer = enforce("strict", { cpu: 100 });
    await fixture.waitForStatus(NAMESPACE, "strict", "ApplyFailed", ({ conditions }) =>
      Boolean(conditions?.some(({ type, reason }) => type === "NfrEnforced" && reason === "ApplyFailed")),
    );
    const status = await fixture.status(NAMESPACE, "strict");
    await enforcer.stop();
    const condition = status?.conditions?.find(({ type }) => type === "NfrEnforced");
    expect(condition?.message).toMatch(/Pod QOS Class may not change/);
    expect(await eventsOf("strict", "NFRApplyFailed")).toEqual([expect.stringMatching(/Pod QOS Class may not change/)]);
    expect(status?.last_applied_recommendations).toBeUndefined();
    expect(cpuOf(await podsOf("strict"))).toEqual([cpu, cpu]);
  });

  test("reports a resize that the node cannot provide", async () => {
    await applyClass("tight");
    const [pod] = await podsOf("tight");
    const message = "Node didn't have enough capacity: cpu, requested: 400, capacity: 300";
    const conditions = [{ type: "PodResizePending", status: "True", reason: "Infeasible", message }];
    await eventually(async () => {
      // Simulated nodes remove the condition, because they can provide the resources.
      await fixture.kubectl([
        ...`patch pod ${pod?.metadata.name} -n ${NAMESPACE} --subresource=status --type=strategic -p`.split(" "),
        JSON.stringify({ status: { conditions } }),
      ]);
      expect(await eventsOf("tight", "NFRApplyFailed")).toContainEqual(expect.stringContaining(message));
    });
  });

  test("leaves pods that another controller resizes", async () => {
    await applyClass("vertical");
    for (const { metadata } of await podsOf("vertical")) {
      const resources = { requests: { cpu: "150m" } };
      await fixture.kubectl([
        ...`patch pod ${metadata.name} -n ${NAMESPACE} --subresource=resize --field-manager=vpa-updater -p`.split(" "),
        JSON.stringify({ spec: { containers: [{ name: "function", resources }] } }),
      ]);
    }
    const enforcer = enforce("vertical", { cpu: 300 });
    await eventually(
      async () =>
        expect(await eventsOf("vertical", "NFRApplyFailed")).toEqual([expect.stringContaining('"vpa-updater" holds')]),
      { timeoutMs: 60_000 },
    );
    await enforcer.stop();
    expect(cpuOf(await podsOf("vertical"))).toEqual(["150m", "150m"]);
  });
});
