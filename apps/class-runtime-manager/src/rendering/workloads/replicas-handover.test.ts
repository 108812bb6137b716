import type { KubeObject, ManagedFieldsEntry } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { replicasHandover } from "./replicas-handover.ts";

const RENDERED = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", namespace: "n" }, spec: {} };
const ours = (manager: string): ManagedFieldsEntry => ({ manager, fieldsV1: { "f:spec": { "f:replicas": {} } } });
const live = (managedFields?: ManagedFieldsEntry[]): KubeObject & { spec: object } => ({
  ...RENDERED,
  metadata: { ...RENDERED.metadata, ...(managedFields === undefined ? {} : { managedFields }) },
  spec: { replicas: 3 },
});

test.each([
  {
    case: "only our manager owns it",
    rendered: RENDERED,
    there: live([ours("us"), { manager: "x", fieldsV1: {} }]),
    hands: true,
  },
  { case: "a trimmed cache", rendered: RENDERED, there: live(), hands: true },
  { case: "another manager states it too", rendered: RENDERED, there: live([ours("us"), ours("hpa")]), hands: false },
  { case: "our manager never owned it", rendered: RENDERED, there: live([ours("hpa")]), hands: false },
  {
    case: "the rendered object still sets it",
    rendered: { ...RENDERED, spec: { replicas: 1 } },
    there: live([ours("us")]),
    hands: false,
  },
  {
    case: "a kind that does not scale",
    rendered: { ...RENDERED, kind: "DaemonSet" },
    there: live([ours("us")]),
    hands: false,
  },
])("$case", ({ rendered, there, hands }) => {
  const expected = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace: "n" },
    spec: { replicas: 3 },
  };
  expect(replicasHandover(rendered, there, "us")).toEqual(hands ? expected : undefined);
});
