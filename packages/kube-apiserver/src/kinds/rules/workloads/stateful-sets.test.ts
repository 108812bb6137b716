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

describe("validates StatefulSet mounts like the real server", () => {
  test.each([
    { case: "a claim template is a volume", set: setWith(MOUNT, ["data"]), errors: [] },
    { case: "no claim template, no volume", set: setWith(MOUNT, []), errors: [NOT_FOUND] },
    { case: "claim template of another name", set: setWith(MOUNT, ["logs"]), errors: [NOT_FOUND] },
    { case: "a claim template replaces a volume", set: setWith(MOUNT, ["data"], ["data"]), errors: [] },
    { case: "other fields of the mount are validated", set: setWith({ name: "data" }, ["data"]), errors: [NO_PATH] },
  ])("$case", ({ set, errors }) => {
    const found = statefulSets.errors?.(set) ?? [];
    expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors);
  });
});
