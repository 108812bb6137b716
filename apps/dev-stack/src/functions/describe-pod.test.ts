import { expect, test } from "vitest";
import { describePod } from "./describe-pod.ts";

function pod(name: string, fn: string): { metadata: { name: string; labels: Record<string, string> } } {
  const labels = { "oaas.io/owner": "hello", "oaas.io/class": "hello.Greeter", "oaas.io/function": fn };
  return { metadata: { name, labels } };
}

test("names the class, the function, and which replica of it answers", () => {
  const pods = [pod("b", "greet"), pod("a", "greet"), pod("c", "other")];
  expect(describePod(pod("b", "greet"), "edge", pods)).toEqual({
    cluster: "edge",
    class: "hello.Greeter",
    function: "greet",
    replica: "2 of 2",
  });
});

test("names only the cluster of a pod that belongs to no class", () => {
  expect(describePod({ metadata: { name: "x" } }, "edge", [])).toEqual({ cluster: "edge" });
});
