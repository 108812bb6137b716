import { expect, test } from "vitest";
import { podReferences } from "./pod-references.ts";

const workload = (pod: object) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "a" },
  spec: { template: { spec: pod } },
});
const textsOf = (pod: object) =>
  podReferences(workload(pod)).map(({ kind, name, usedBy }) => `${kind} ${name} for ${usedBy}`);

test("lists every object that the pods need, with the field that names it", () => {
  expect(
    textsOf({
      initContainers: [{ envFrom: [{ configMapRef: { name: "boot" } }] }],
      containers: [
        {
          env: [
            { name: "URL", valueFrom: { secretKeyRef: { name: "database", key: "url" } } },
            { name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } },
            { name: "PLAIN", value: "1" },
            { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          ],
          envFrom: [{ secretRef: { name: "more" } }],
        },
      ],
      volumes: [
        { name: "tls", secret: { secretName: "tls" } },
        { name: "files", configMap: { name: "files" } },
        { name: "data", persistentVolumeClaim: { claimName: "data" } },
        { name: "all", projected: { sources: [{ secret: { name: "part" } }, { configMap: { name: "rest" } }] } },
        { name: "scratch", emptyDir: {} },
      ],
      imagePullSecrets: [{ name: "registry" }],
      serviceAccountName: "runner",
      priorityClassName: "urgent",
    }),
  ).toEqual([
    "ConfigMap boot for envFrom",
    "Secret database for env URL",
    "ConfigMap settings for env MODE",
    "Secret more for envFrom",
    "Secret tls for volume tls",
    "ConfigMap files for volume files",
    "PersistentVolumeClaim data for volume data",
    "Secret part for volume all",
    "ConfigMap rest for volume all",
    "Secret registry for imagePullSecrets",
    "ServiceAccount runner for serviceAccountName",
    "PriorityClass urgent for priorityClassName",
  ]);
});

test("lists an object once, and no optional ones", () => {
  const twice = { secretKeyRef: { name: "database", key: "url" } };
  expect(
    textsOf({
      containers: [
        {
          env: [
            { name: "A", valueFrom: twice },
            { name: "B", valueFrom: twice },
            { name: "C", valueFrom: { secretKeyRef: { name: "maybe", key: "c", optional: true } } },
          ],
          envFrom: [{ secretRef: { name: "perhaps", optional: true } }],
        },
      ],
      volumes: [{ name: "tls", secret: { secretName: "tls", optional: true } }],
    }),
  ).toEqual(["Secret database for env A"]);
});

test.each([
  {},
  { spec: 1 },
  { spec: { template: [] } },
  { spec: { template: { spec: { containers: "a", volumes: [3] } } } },
])("finds nothing in %j", (object) => expect(podReferences(object)).toEqual([]));
