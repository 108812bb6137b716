import { create } from "@bufbuild/protobuf";
import { loadConfig } from "@oaas/config";
import { DeploymentUnitSchema, type DeploymentUnit } from "@oaas/contracts/grpc";
import { hashJson } from "@oaas/foundation/hash";
import type { KubeObject } from "@oaas/kube-core";
import { crmConfig } from "../../apps/class-runtime-manager/src/config.ts";
import { HASH_ANNOTATION } from "../../apps/class-runtime-manager/src/controller/children/apply-children.ts";
import { configuredFacts } from "../../apps/class-runtime-manager/src/controller/cluster/cluster-facts.ts";
import { FINALIZER } from "../../apps/class-runtime-manager/src/controller/kinds/class-kind.ts";
import {
  unitToClassRuntime,
  type UnitObject,
} from "../../apps/class-runtime-manager/src/mapping/unit/unit-to-class-runtime.ts";
import { BUILTIN_TEMPLATES, chooseAndRender } from "../../apps/class-runtime-manager/src/templates/index.ts";

/** The configuration of a manager with default settings. */
export const CONFIGURED = configuredFacts(
  loadConfig(crmConfig, {
    env: { OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1", OPRC_CRM_ODGM_HEALTH: "false" },
  }),
);

/** The facts of a cluster without other projects. */
const FACTS = {
  ...CONFIGURED,
  routers: [],
  capabilities: {
    knative: false,
    horizontalPodAutoscaler: true,
    podDisruptionBudget: true,
    networkPolicy: true,
    serviceMonitor: false,
    podMonitor: false,
    podResize: true,
    scaledObject: false,
    httpScaledObject: false,
  },
};

/** A class with two functions and a state store, as a package manager sends it. */
export function unitOf(id: string): DeploymentUnit {
  const functionOf = (key: string) => ({
    functionKey: key,
    provisionConfig: {
      containerImage: `registry.example/shop/${key}:1.0`,
      cpuRequest: "10m",
      memoryRequest: "16Mi",
      minScale: 1,
    },
    config: { LOG: "info", REGION: "eu" },
  });
  return create(DeploymentUnitSchema, {
    id,
    packageName: "shop",
    classKey: "Order",
    functions: [functionOf("place"), functionOf("cancel")],
    state: { persistent: false },
    odgmConfig: { collections: ["orders"], partitionCount: 3, replicaCount: 1 },
  });
}

/** The ClassRuntime that the manager creates for such a class. */
export function classOf(id: string, namespace: string): KubeObject {
  return { ...read(id, namespace).manifest, metadata: { name: id, namespace, finalizers: [FINALIZER] } };
}

/** The ClassRuntime with the labels that its children inherit, as stored by Deploy. */
export function deployedClassOf(id: string, namespace: string): KubeObject {
  const { manifest } = read(id, namespace);
  const { labels = {}, annotations = {} } = manifest.metadata;
  return { ...manifest, metadata: { name: id, namespace, labels, annotations, finalizers: [FINALIZER] } };
}

/** The children of such a class, exactly as the manager applies them. */
export function childrenOf(id: string, namespace: string, uid: string): readonly KubeObject[] {
  const { desired } = read(id, namespace);
  const { apiVersion, kind, metadata } = desired;
  const owner = { apiVersion, kind, namespace, name: metadata.name, uid, labels: metadata.labels ?? {} };
  const chosen = chooseAndRender(
    { owner, spec: desired.spec, cluster: FACTS, assignedNames: new Map() },
    BUILTIN_TEMPLATES,
  );
  if (!chosen.ok) throw new Error(chosen.error.message);
  return chosen.value.rendered.children.map((child) => ({
    ...child,
    metadata: {
      ...child.metadata,
      annotations: { ...child.metadata.annotations, [HASH_ANNOTATION]: hashJson(child) },
    },
  }));
}

function read(id: string, namespace: string): UnitObject {
  const made = unitToClassRuntime(unitOf(id), { namespace });
  if (!made.ok) throw new Error(made.error.map(({ path, message }) => `${path} ${message}`).join("; "));
  return made.value;
}

/** Ids of the classes. */
export function idsOf(count: number, prefix = "order"): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}
