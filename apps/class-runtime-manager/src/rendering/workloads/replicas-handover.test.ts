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
  { why: "ours alone", rendered: RENDERED, there: live([ours("us"), { manager: "x", fieldsV1: {} }]), hands: true },
  { why: "a trimmed cache", rendered: RENDERED, there: live(), hands: true },
  { why: "another manager states it too", rendered: RENDERED, there: live([ours("us"), ours("hpa")]), hands: false },
  { why: "it was never ours", rendered: RENDERED, there: live([ours("hpa")]), hands: false },
  {
    why: "we still state it",
    rendered: { ...RENDERED, spec: { replicas: 1 } },
    there: live([ours("us")]),
    hands: false,
  },
  {
    why: "a kind that does not scale",
    rendered: { ...RENDERED, kind: "DaemonSet" },
    there: live([ours("us")]),
    hands: false,
  },
])("$why", ({ rendered, there, hands }) => {
  const wanted = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace: "n" },
    spec: { replicas: 3 },
  };
  expect(replicasHandover(rendered, there, "us")).toEqual(hands ? wanted : undefined);
});
