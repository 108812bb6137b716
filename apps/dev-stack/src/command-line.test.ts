import { loadConfig } from "@oaas/config";
import { expect, test } from "vitest";
import { checkNodeFlags, joinRepeatedFlag, renameNodeFlag, resolvePorts } from "./command-line.ts";
import { devStackConfig } from "./config.ts";

const load = (args: readonly string[]) => loadConfig(devStackConfig, { env: {}, args: renameNodeFlag(args) });

const portsOf = (args: readonly string[]) => {
  const { server, pagePort, clusters } = resolvePorts(load(args));
  return [server.port, pagePort, clusters.apiPort, clusters.managerPort];
};

test.each([
  { case: "without --ports the other settings apply", args: ["--server-port=1"], ports: [1, 8081, 0, 0] },
  { case: "one number is the first of consecutive ports", args: ["--ports=9000"], ports: [9000, 9001, 9002, 9005] },
  { case: "a value may follow its flag", args: ["--ports", "9000", "--real"], ports: [9000, 9001, 9002, 9005] },
  { case: "fewer clusters use fewer ports", args: ["--ports=9000", "--clusters=1"], ports: [9000, 9001, 9002, 9003] },
  { case: "zero selects free ports", args: ["--ports=0"], ports: [0, 0, 0, 0] },
  { case: "a list sets each port", args: ["--ports=1,2,3,4"], ports: [1, 2, 3, 4] },
  { case: "ports missing in a list are free ports", args: ["--ports=1,2"], ports: [1, 2, 0, 0] },
])("$case", ({ args, ports }) => {
  expect(portsOf(args)).toEqual(ports);
});

test.each([
  { args: ["--node", "--real"], text: /OAAS_STACK_NODE: excludes --real; use one of them/ },
  { args: ["--node", "--context=a", "--functions=local"], text: /excludes --context, --functions=local/ },
  { args: ["--node", "--no-cluster"], text: /excludes --no-cluster/ },
  { args: ["--images=a.tar"], text: /OAAS_STACK_IMAGES: needs real nodes; add --node/ },
])("rejects $args, which contradict each other", ({ args, text }) => {
  expect(() => checkNodeFlags(load(args))).toThrow(text);
});

test("accepts --node alone and with images", () => {
  expect(() => checkNodeFlags(load(["--node", "--images=a.tar"]))).not.toThrow();
  expect(() => checkNodeFlags(load(["--real"]))).not.toThrow();
});

test("uses the ports of one cluster with --node", () => {
  expect(portsOf(["--ports=9000", "--node"])).toEqual([9000, 9001, 9002, 9003]);
});

test.each([
  { args: ["--ports=1,2,3,4,5"], text: /OAAS_STACK_PORTS.*has 5 ports/s },
  { args: ["--ports=65530"], text: /OAAS_STACK_PORTS.*no room for 8 ports/s },
  { args: ["--ports=x"], text: /PORTS\[0\]: must be a whole number/ },
])("rejects $args", ({ args, text }) => {
  expect(() => portsOf(args)).toThrow(text);
});

test.each([
  [
    ["--a=x", "--b=1", "--a=y"],
    ["--b=1", "--a=x,y"],
  ],
  [
    ["--a", "x", "--real", "--a=y"],
    ["--real", "--a=x,y"],
  ],
  [["--a=x"], ["--a=x"]],
  [
    ["--a", "x"],
    ["--a", "x"],
  ],
  [
    ["--ab=x", "--a=1", "--ab=y"],
    ["--ab=x", "--a=1", "--ab=y"],
  ],
])("joins repeated --a of %j to %j", (args, joined) => {
  expect(joinRepeatedFlag(args, "--a")).toEqual(joined);
});

test("--node is the flag of OAAS_STACK_NODE, not of the variable that npm sets", () => {
  expect(renameNodeFlag(["--node", "--node=false", "--nodes=2"])).toEqual([
    "--oaas-stack-node",
    "--oaas-stack-node=false",
    "--nodes=2",
  ]);
  expect(loadConfig(devStackConfig, { env: { NODE: "/usr/bin/node" }, args: [] }).clusters.node).toBe(false);
});
