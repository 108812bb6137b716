import { DeploymentService } from "@oaas/contracts/grpc";
import { Fault, unavailable } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { afterEach, describe, expect, it } from "vitest";
import { ScriptedCrm, type Behaviour, type ScriptedCrmOptions } from "./fakes/scripted-crm.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function start(options?: ScriptedCrmOptions) {
  const crm = await ScriptedCrm.start(options);
  const channel = new RpcChannel({ name: "scripted", address: `127.0.0.1:${crm.port}`, clock: realAmbient.clock });
  open.push(crm, channel);
  return { crm, client: channel.client(DeploymentService) };
}

async function deploy(client: RpcClient<typeof DeploymentService>, deadlineMs = 10_000): Promise<string> {
  const deploymentUnit = { id: "unit-a", packageName: "shop", classKey: "Cart", digest: "d1" };
  return client.deploy({ deploymentUnit }, { deadlineMs }).then(
    () => "done",
    (thrown: unknown) => Fault.from(thrown).kind,
  );
}

describe("ScriptedCrm", () => {
  const outcomes: { behaviour: Behaviour; kind: string; units: number; why: string }[] = [
    { behaviour: { do: "serve" }, kind: "done", units: 1, why: "has its effect" },
    { behaviour: { do: "slow", ms: 5 }, kind: "done", units: 1, why: "responds late" },
    {
      behaviour: { do: "fail", fault: unavailable("x", "no") },
      kind: "unavailable",
      units: 0,
      why: "fails before the effect",
    },
    { behaviour: { do: "hang" }, kind: "deadline-exceeded", units: 0, why: "no effect and no response" },
    { behaviour: { do: "swallow-answer" }, kind: "deadline-exceeded", units: 1, why: "effect without a response" },
    {
      behaviour: { do: "lose-answer" },
      kind: "unavailable",
      units: 1,
      why: "effect, then disconnect before the response",
    },
    { behaviour: { do: "cut" }, kind: "unavailable", units: 0, why: "disconnect before the effect" },
  ];
  it.each(outcomes)("$behaviour.do: $why", async ({ behaviour, kind, units }) => {
    const { crm, client } = await start();
    crm.next("Deploy", behaviour);
    expect(await deploy(client, behaviour.do === "hang" || behaviour.do === "swallow-answer" ? 300 : 10_000)).toBe(
      kind,
    );
    expect(crm.units.size).toBe(units);
    expect(await deploy(client)).toBe("done");
    expect(crm.callsOf("Deploy")).toHaveLength(2);
  });

  it("keeps its units when it goes down, falls silent and recovers", async () => {
    const { crm, client } = await start();
    expect(await deploy(client)).toBe("done");
    await crm.down();
    expect(await deploy(client)).toBe("unavailable");
    await crm.up();
    crm.mute();
    expect(await deploy(client, 500)).toMatch(/deadline-exceeded|unavailable/);
    crm.heal();
    crm.cut();
    expect(crm.units.size).toBe(1);
  });

  it("never updates and lacks watch and explain as the Rust manager", async () => {
    const { crm, client } = await start({ flavour: "rust" });
    await deploy(client);
    await client.deploy({ deploymentUnit: { id: "unit-a", packageName: "shop", classKey: "Other" } });
    expect(crm.units.get("unit-a")?.unit.classKey).toBe("Cart");
    await expect(client.explainClassRuntime({ deploymentId: "unit-a" })).rejects.toMatchObject({
      detail: { kind: "unimplemented" },
    });
    await expect(client.watchClassRuntimes({})[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      detail: { kind: "unimplemented" },
    });
  });
});
