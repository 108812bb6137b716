import { describe, expect, it } from "vitest";
import { resolveEnvironment, type PodContainer, type StorePod } from "./pod-environment.ts";

const POD: StorePod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "cart-1", namespace: "shop", labels: { "apps.kubernetes.io/pod-index": "1" } },
  status: { podIP: "10.0.0.7" },
};
const fieldRef = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
const configKey = (key: string, optional = false) => ({
  name: "C",
  valueFrom: { configMapKeyRef: { name: "cart", key, optional } },
});
const resolve = (...env: NonNullable<PodContainer["env"]>) =>
  resolveEnvironment(POD, { name: "odgm", env }, async (name) => (name === "cart" ? { log: "info" } : undefined));

describe("resolveEnvironment", () => {
  it("resolves values, fields and references to earlier variables", async () => {
    const env = await resolve(
      fieldRef("IP", "status.podIP"),
      fieldRef("INDEX", "metadata.labels['apps.kubernetes.io/pod-index']"),
      fieldRef("NAME", "metadata.name"),
      { name: "ID", value: "10$(INDEX) $(ABSENT) $$(INDEX)" },
      { name: "EMPTY" },
    );
    expect(env).toEqual({ IP: "10.0.0.7", INDEX: "1", NAME: "cart-1", ID: "101 $(ABSENT) $(INDEX)", EMPTY: "" });
  });

  it("reads keys of ConfigMaps, and leaves out optional ones that are missing", async () => {
    expect(await resolve(configKey("log"))).toEqual({ C: "info" });
    expect(await resolve(configKey("absent", true))).toEqual({});
  });

  it.each([
    { why: "a missing key", variable: configKey("absent"), message: "couldn't find key absent in ConfigMap cart" },
    {
      why: "a missing ConfigMap",
      variable: { name: "C", valueFrom: { configMapKeyRef: { name: "other", key: "log" } } },
      message: 'configmap "other" not found',
    },
    {
      why: "a Secret",
      variable: { name: "C", valueFrom: { secretKeyRef: {} } },
      message: "only fields and ConfigMaps",
    },
  ])("does not start the container for $why", async ({ variable, message }) => {
    await expect(resolve(variable)).rejects.toThrow(message);
  });
});
