import { parser } from "@prometheus-io/lezer-promql";
import { expect, it } from "vitest";
import { SIGNALS } from "../samples.ts";
import type { ComponentTarget } from "./assign-series.ts";
import { fillTemplate } from "./build-queries.ts";
import { narrowTemplate } from "./narrow-query.ts";
import { NAMING_SCHEMES, QUERY_TEMPLATES } from "./templates.ts";

const target = (name: string, pods: readonly string[] = []): ComponentTarget => ({
  key: name,
  namespace: "shop",
  owner: "shop-order",
  functionLabel: name,
  workloads: [{ kind: "Deployment", namespace: "shop", name }],
  pods,
});
const TARGETS = [target("shop-order-place", ["shop-order-place-7d4b9c6f5d-x2x4z"]), target("shop-order-pay")];

/** The values of the label that a matcher of the narrowed template accepts. */
function accepts(label: string, signal: (typeof SIGNALS)[number], targets: readonly ComponentTarget[]) {
  const template = narrowTemplate("m{namespace=~$namespaces}", signal, targets);
  const [, pattern] = new RegExp(`[{,]${label}=~"([^"]*)"`).exec(template) ?? [];
  return (value: string): boolean =>
    pattern === undefined || new RegExp(`^(?:${pattern.replaceAll("\\\\", "\\")})$`).test(value);
}

it.each(NAMING_SCHEMES.flatMap((scheme) => SIGNALS.map((signal) => ({ scheme, signal }))))(
  "keeps $scheme $signal valid and narrows each of its selectors",
  ({ scheme, signal }) => {
    const template = QUERY_TEMPLATES[scheme][signal];
    const query = fillTemplate(narrowTemplate(template, signal, TARGETS), { namespaces: ["shop"], windowMs: 60_000 });
    let isError = false;
    parser.parse(query).iterate({ enter: (node) => void (isError ||= node.type.isError) });
    expect(isError, query).toBe(false);
    for (const selector of query.match(/\{[^}]*\}/g) ?? []) expect(selector).toContain("shop-order");
  },
);

it.each([
  { why: "the pods of a component", signal: "cpu_millicores", label: "pod", value: "shop-order-pay-1", is: true },
  { why: "the pods of another class", signal: "cpu_millicores", label: "pod", value: "shop-cart-1", is: false },
  { why: "series without the label", signal: "cpu_millicores", label: "k8s_pod_name", value: "", is: true },
  { why: "the class", signal: "requests_per_second", label: "oaas_owner", value: "shop-order", is: true },
  { why: "a longer class name", signal: "requests_per_second", label: "oaas_owner", value: "shop-order-2", is: false },
  { why: "the exporter's pod", signal: "ready_replicas", label: "pod", value: "kube-state-metrics-0", is: true },
  {
    why: "a revision of Knative",
    signal: "requests_per_second",
    label: "k8s_deployment_name",
    value: "shop-order-pay-00001-deployment",
    is: true,
  },
] as const)("of $label selects $why: $is", ({ signal, label, value, is }) => {
  expect(accepts(label, signal, TARGETS)(value)).toBe(is);
});

it("selects pods whose name Kubernetes shortened", () => {
  const name = "a".repeat(60);
  expect(accepts("pod", "memory_bytes", [target(name)])(`${name.slice(0, 46)}bcdf-x2x4z`)).toBe(true);
});

it("takes names literally", () => {
  const dotted = { ...target("web"), owner: "shop.order" };
  expect(accepts("oaas_owner", "requests_per_second", [dotted])("shop.order")).toBe(true);
  expect(accepts("oaas_owner", "requests_per_second", [dotted])("shopxorder")).toBe(false);
});

it("selects everything of the namespace when the names have nothing in common", () => {
  expect(accepts("pod", "memory_bytes", [target("web"), target("api")])("anything")).toBe(true);
});
