import { describe, expect, test } from "vitest";
import { PODS, SERVICES } from "../objects/resources.ts";
import type { Pod, Quota } from "../objects/typed.ts";
import { failuresOf, matchesImage, startDelayOf, type FailureRule } from "./failure.ts";
import { checkQuotas } from "./quota.ts";

test.each([
  { pattern: "example.test/web:1", image: "example.test/web:1", is: true },
  { pattern: "example.test/web", image: "example.test/web:1", is: false },
  { pattern: "*:missing", image: "example.test/web:missing", is: true },
  { pattern: "*:missing", image: "missing", is: false },
  { pattern: "example.test/*", image: "example.test/a/b:1", is: true },
  { pattern: "*web*", image: "example.test/web:1", is: true },
  { pattern: "a*b*c", image: "a-b-c", is: true },
  { pattern: "a*b*c", image: "a-c", is: false },
  { pattern: "ab*bc", image: "abc", is: false },
  { pattern: "*", image: "", is: true },
  { pattern: "", image: "x", is: false },
])("matches $pattern with $image: $is", ({ pattern, image, is }) => {
  expect(matchesImage(pattern, image)).toBe(is);
});

const pod = (metadata: object = {}, image = "example.test/web:1"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "default", labels: { app: "web" }, ...metadata },
  spec: { containers: [{ name: "c", image, resources: { requests: { cpu: "600m" } } }] },
});

describe("selects pods for failure rules", () => {
  const kinds = (rules: readonly FailureRule[], of: Pod = pod()): string[] =>
    failuresOf(of, rules).map(({ kind }) => kind);

  test.each([
    { case: "all pods", rule: {}, is: true },
    { case: "its namespace", rule: { namespace: "default" }, is: true },
    { case: "another namespace", rule: { namespace: "other" }, is: false },
    { case: "its labels", rule: { selector: { matchLabels: { app: "web" } } }, is: true },
    { case: "other labels", rule: { selector: { matchLabels: { app: "db" } } }, is: false },
    { case: "same image and namespace", rule: { image: "*/web:*", namespace: "default" }, is: true },
    { case: "same image, other namespace", rule: { image: "*/web:*", namespace: "other" }, is: false },
  ])("$case: $is", ({ rule, is }) => {
    expect(kinds([{ ...rule, failure: { kind: "never-ready" } }])).toEqual(is ? ["never-ready"] : []);
  });

  test("prefers the annotation to the rules and ignores unknown values", () => {
    const rules: readonly FailureRule[] = [{ failure: { kind: "never-ready" } }];
    expect(kinds(rules, pod({ annotations: { "simulation.kube.local/failure": "crash-loop" } }))).toEqual([
      "crash-loop",
      "never-ready",
    ]);
    expect(kinds(rules, pod({ annotations: { "simulation.kube.local/failure": "bogus" } }))).toEqual(["never-ready"]);
  });

  test("takes the start time from annotation, rule or default", () => {
    const slow = [{ kind: "slow-start", delayMs: 5000 }] as const;
    expect(startDelayOf(pod({ annotations: { "simulation.kube.local/start-delay-ms": "7" } }), slow, 1)).toBe(7);
    expect(startDelayOf(pod({ annotations: { "simulation.kube.local/start-delay-ms": "soon" } }), slow, 1)).toBe(5000);
    expect(startDelayOf(pod(), [], 1)).toBe(1);
  });
});

describe("a quota", () => {
  const quota = (hard: Record<string, string>, used: Record<string, string> = {}): Quota => ({
    apiVersion: "v1",
    kind: "ResourceQuota",
    metadata: { name: "q" },
    spec: { hard },
    status: { hard, used },
  });

  test.each([
    { case: "within the quota", hard: { pods: "2" }, used: { pods: "1" }, text: undefined },
    {
      case: "pod count exceeded",
      hard: { pods: "2" },
      used: { pods: "2" },
      text: 'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    },
    {
      case: "cpu exceeded",
      hard: { "requests.cpu": "1" },
      used: { "requests.cpu": "500m" },
      text: 'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=500m, limited: requests.cpu=1',
    },
    {
      case: "both",
      hard: { pods: "0", cpu: "500m" },
      used: {},
      text: 'pods "p" is forbidden: exceeded quota: q, requested: cpu=600m,pods=1, used: cpu=0,pods=0, limited: cpu=500m,pods=0',
    },
    {
      case: "missing requests",
      hard: { "limits.cpu": "1", "requests.memory": "1Gi" },
      used: {},
      text: 'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: c; requests.memory for: c',
    },
    {
      case: "other kinds do not count",
      hard: { services: "0", "count/deployments.apps": "0" },
      used: {},
      text: undefined,
    },
  ])("$case", ({ hard, used, text }) => {
    expect(checkQuotas(PODS, pod(), [quota(hard, used as Record<string, string>)])?.message).toBe(text);
  });

  test("counts services by type", () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { type: "LoadBalancer" } };
    expect(checkQuotas(SERVICES, service, [quota({ "services.loadbalancers": "0" })])?.message).toContain(
      "services.loadbalancers=1",
    );
  });
});
