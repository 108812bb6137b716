import type { KubeObject } from "@oaas/kube-core";
import { expect, it } from "vitest";
import { maskObject } from "./mask-object.ts";

const masked = (object: object): unknown => maskObject(object as KubeObject);

it.each(["Secret", "ConfigMap"])("masks all values of a %s and shows their names", (kind) => {
  const object = {
    kind,
    metadata: { name: "x" },
    data: { a: "MQ==" },
    stringData: { b: "2" },
    binaryData: { c: "Mw==" },
  };
  expect(masked(object)).toEqual({
    kind,
    metadata: { name: "x" },
    data: { a: "***" },
    stringData: { b: "***" },
    binaryData: { c: "***" },
  });
});

it("masks data that is not a map as a whole", () => {
  expect(masked({ kind: "Secret", data: "MQ==" })).toEqual({ kind: "Secret", data: "***" });
});

it("masks environment variables by their name and by credentials in their value", () => {
  const env = (name: string, value: string) => ({ name, value });
  const container = {
    env: [
      env("DB_PASSWORD", "p"),
      env("URL", "postgres://u:p@db/x"),
      env("MODE", "fast"),
      { name: "API_KEY", valueFrom: { secretKeyRef: { name: "keys", key: "api" } } },
    ],
    args: ["--url=https://u:p@host/", "--verbose"],
  };
  expect(masked({ kind: "Deployment", spec: { template: { spec: { containers: [container] } } } })).toEqual({
    kind: "Deployment",
    spec: {
      template: {
        spec: {
          containers: [
            {
              env: [
                env("DB_PASSWORD", "***"),
                env("URL", "***"),
                env("MODE", "fast"),
                { name: "API_KEY", valueFrom: { secretKeyRef: { name: "keys", key: "api" } } },
              ],
              args: ["***", "--verbose"],
            },
          ],
        },
      },
    },
  });
});

it("masks fields and annotations whose name shows a secret, and keeps references to Secrets", () => {
  const object = {
    kind: "ScaledObject",
    metadata: { annotations: { "example.com/api-token": "t", note: "plain" } },
    spec: {
      triggers: [{ metadata: { password: "p", queue: "q" } }],
      secretName: "keys",
      automountServiceAccountToken: false,
    },
  };
  expect(masked(object)).toEqual({
    kind: "ScaledObject",
    metadata: { annotations: { "example.com/api-token": "***", note: "plain" } },
    spec: {
      triggers: [{ metadata: { password: "***", queue: "q" } }],
      secretName: "keys",
      automountServiceAccountToken: false,
    },
  });
});
