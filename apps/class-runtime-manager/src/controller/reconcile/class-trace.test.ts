import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { ANNOTATIONS } from "../../mapping/object-identity.ts";
import { classTrace } from "./class-trace.ts";

const CALL = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true };

const classWith = (annotations: Readonly<Record<string, string>>): Stored<KubeObject> =>
  ({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "order", namespace: "shop", uid: "u", resourceVersion: "1", generation: 2, annotations },
  }) as unknown as Stored<KubeObject>;
const called = classWith({ [ANNOTATIONS.traceparent]: `00-${CALL.traceId}-${CALL.spanId}-01` });
const withStatus = (status: ClassRuntimeStatus | undefined) => () => status;

test.each<{ name: string; status: ClassRuntimeStatus | undefined }>([
  { name: "that was never reconciled", status: undefined },
  { name: "that is not available", status: { phase: "progressing", observedGeneration: 2 } },
  { name: "that is available in an earlier generation", status: { phase: "available", observedGeneration: 1 } },
])("a reconcile of a class $name is a part of the call that changed it", ({ status }) => {
  const trace = classTrace(called, withStatus(status));
  expect(trace).toMatchObject({ parent: CALL });
  expect(trace).not.toHaveProperty("links");
});

test("a later reconcile is a trace of its own with a link to that call", () => {
  const trace = classTrace(called, withStatus({ phase: "available", observedGeneration: 2 }));
  expect(trace).toMatchObject({ links: [CALL] });
  expect(trace).not.toHaveProperty("parent");
});

test.each([{}, { [ANNOTATIONS.traceparent]: "00-zz-1-01" }, { [ANNOTATIONS.traceparent]: "" }])(
  "annotations %j give no cause",
  (annotations) => {
    const trace = classTrace(classWith(annotations), withStatus(undefined));
    expect(trace).not.toHaveProperty("parent");
    expect(trace).not.toHaveProperty("links");
  },
);
