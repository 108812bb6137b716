import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import { statefulSets } from "./workloads.ts";

const NOT_FOUND = 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"';
const NO_PATH = "spec.template.spec.containers[0].volumeMounts[0].mountPath: Required value";
const MOUNT = { name: "data", mountPath: "/data" };

/** A set whose only container has this mount, with claims and volumes of these names. */
function setWith(mount: JsonObject, claims: readonly string[], volumes: readonly string[] = []): JsonObject {
  const spec = {
    containers: [
      {
        name: "db",
        image: "example.test/db:1",
        terminationMessagePolicy: "File",
        imagePullPolicy: "IfNotPresent",
        volumeMounts: [mount],
      },
    ],
    volumes: volumes.map((name) => ({ name, emptyDir: {} })),
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
  };
  return {
    metadata: { name: "db" },
    spec: {
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate" },
      selector: { matchLabels: { app: "db" } },
      template: { metadata: { labels: { app: "db" } }, spec },
      volumeClaimTemplates: claims.map((name) => ({ metadata: { name }, spec: {} })),
    },
  };
}

describe("mounts in a StatefulSet, as the real server judges them", () => {
  test.each([
    { why: "a claim is a volume", set: setWith(MOUNT, ["data"]), errors: [] },
    { why: "without a claim there is none", set: setWith(MOUNT, []), errors: [NOT_FOUND] },
    { why: "of another name there is none", set: setWith(MOUNT, ["logs"]), errors: [NOT_FOUND] },
    { why: "a claim takes the place of a volume", set: setWith(MOUNT, ["data"], ["data"]), errors: [] },
    { why: "the rest of the mount is looked at", set: setWith({ name: "data" }, ["data"]), errors: [NO_PATH] },
  ])("$why", ({ set, errors }) => {
    const found = statefulSets.errors?.(set) ?? [];
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors);
  });
});
