import { loadConfig } from "@oaas/config";
import { expect, test } from "vitest";
import { withChosenPorts } from "./choose-ports.ts";
import { devStackConfig } from "./config.ts";
import { joinRepeated } from "./join-repeated.ts";

const portsOf = (args: readonly string[]) => {
  const { server, pagePort, clusters } = withChosenPorts(loadConfig(devStackConfig, { env: {}, args }));
  return [server.port, pagePort, clusters.apiPort, clusters.managerPort];
};

test.each([
  { why: "without it the other settings count", args: ["--server-port=1"], ports: [1, 8081, 0, 0] },
  { why: "one number is counted up, by clusters", args: ["--ports=9000"], ports: [9000, 9001, 9002, 9005] },
  { why: "fewer clusters take fewer", args: ["--ports=9000", "--clusters=1"], ports: [9000, 9001, 9002, 9003] },
  { why: "zero takes free ones", args: ["--ports=0"], ports: [0, 0, 0, 0] },
  { why: "a list names them", args: ["--ports=1,2,3,4"], ports: [1, 2, 3, 4] },
  { why: "what a short list does not name is free", args: ["--ports=1,2"], ports: [1, 2, 0, 0] },
])("$why", ({ args, ports }) => {
  expect(portsOf(args)).toEqual(ports);
});

test.each([
  { args: ["--ports=1,2,3,4,5"], text: /OAAS_STACK_PORTS.*names 5 ports/s },
  { args: ["--ports=65530"], text: /OAAS_STACK_PORTS.*no room for 8 ports/s },
  { args: ["--ports=x"], text: /PORTS\[0\]: must be a whole number/ },
])("$args is refused", ({ args, text }) => {
  expect(() => portsOf(args)).toThrow(text);
});

test.each([
  [
    ["--a=x", "--b=1", "--a=y"],
    ["--b=1", "--a=x,y"],
  ],
  [["--a=x"], ["--a=x"]],
  [
    ["--ab=x", "--a=1", "--ab=y"],
    ["--ab=x", "--a=1", "--ab=y"],
  ],
])("%j with a repeated --a is %j", (args, joined) => {
  expect(joinRepeated(args, "--a")).toEqual(joined);
});
