import { expect, test } from "vitest";
import { createConsoleLab } from "./console-lab.ts";
import { STACK_FAULTS, type StackFault } from "./fault.ts";

function createLab() {
  const injected: StackFault[] = [];
  const lab = createConsoleLab(
    {
      get injected() {
        return injected;
      },
      inject: async (fault: StackFault) => void injected.push(fault),
      remove: async (fault: StackFault) => void injected.splice(injected.indexOf(fault), 1),
      removeAll: async () => void injected.splice(0),
    } as never,
    ["edge", "cloud"],
  );
  return { lab, injected };
}

test("offers every fault of a cluster with a description, and shows those that are injected", async () => {
  const { lab, injected } = createLab();
  expect(lab.state().faults.map(({ fault }) => fault)).toEqual(STACK_FAULTS.filter((fault) => fault !== "pm-killed"));
  await lab.inject({ fault: "load-spike", cluster: "edge" });
  injected.push({ fault: "pm-killed" });
  expect(lab.state()).toMatchObject({
    clusters: ["edge", "cloud"],
    injected: [{ fault: "load-spike", cluster: "edge" }],
  });
  await lab.removeAll();
  expect(lab.state().injected).toEqual([]);
});

test.each([
  { sent: { fault: "earthquake", cluster: "edge" }, text: /\$\.fault/ },
  { sent: { fault: "partition", cluster: "nowhere" }, text: /\$\.cluster.*edge, cloud/s },
  { sent: { fault: "pm-killed", cluster: "edge" }, text: /\$\.fault.*npx oaas lab/s },
])("rejects $sent and changes nothing", async ({ sent, text }) => {
  const { lab, injected } = createLab();
  await expect(lab.inject(sent)).rejects.toThrow(text);
  await expect(lab.remove(sent)).rejects.toThrow(text);
  expect(injected).toEqual([]);
});
