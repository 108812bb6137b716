import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import { resolveImage, imagePullPolicy } from "../../rendering/plan/images.ts";
import type { Labels } from "../../rendering/manifests/labels.ts";
import { createManifest } from "../../rendering/manifests/manifest.ts";
import { statefulSetName, withSuffix } from "../../rendering/plan/names.ts";
import { renderPodIdentity } from "../../rendering/manifests/pod.ts";
import { ODGM_TIMING, renderPortProbes } from "../../rendering/manifests/probes.ts";
import { containerResources, environmentAmounts, withOverrides } from "../../rendering/plan/resources.ts";
import { renderScheduling } from "../../rendering/manifests/scheduling.ts";
import { CONTAINER_SECURITY, podSecurity } from "../../rendering/manifests/security.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { odgmEnv, type NodeGroup } from "./env.ts";
import { ODGM_PORT, ZENOH_PORT, type OdgmPlan } from "../plan/odgm-plan.ts";

const DATA_VOLUME = "odgm-data";
/** The volume of the ConfigMap, in the pods of the state store and of functions. */
export const CONFIG_VOLUME = "odgm-config";
export const CONFIG_PATH = "/config";

/** Metadata shared by all state store workloads. */
interface Dress {
  readonly labels: Labels;
  readonly selector: Labels;
  readonly config: Manifest;
}

/**
 * The workloads of the state store: a Deployment for one node without a volume, a StatefulSet for nodes with volumes or
 * indexes, and one workload per node with fixed ids.
 */
export function odgmWorkloads(plan: OdgmPlan, dress: Dress): Result<readonly Manifest[], readonly Violation[]> {
  const image = odgmImage(plan);
  if (!image.ok) return err([image.error]);
  return ok(nodeGroups(plan).map((group) => workload(plan, dress, group, image.value)));
}

function nodeGroups({ nodes, names, persistent }: OdgmPlan): readonly NodeGroup[] {
  const stateful = (name: string): string => (persistent ? statefulSetName(name) : name);
  if (nodes.kind === "fixed") {
    return nodes.ids.map((nodeId, index) => ({
      name: stateful(index === 0 ? names.workload : withSuffix(names.workload, String(index))),
      replicas: 1,
      nodeId,
      numbered: false,
    }));
  }
  const numbered = nodes.ids.length > 1;
  return [
    {
      name: numbered ? statefulSetName(names.workload) : stateful(names.workload),
      replicas: nodes.ids.length,
      numbered,
    },
  ];
}

function workload(plan: OdgmPlan, dress: Dress, group: NodeGroup, image: string): Manifest {
  const { input } = plan.classPlan;
  const { labels } = dress;
  const isSet = plan.persistent || group.numbered;
  // Each group selects only its own pods.
  const own: Labels =
    group.nodeId !== undefined && plan.nodes.ids.length > 1 ? { "oaas.io/node": String(group.nodeId) } : {};
  const shared = {
    replicas: group.replicas,
    selector: { matchLabels: { ...dress.selector, ...own } },
    template: {
      metadata: {
        labels: { ...labels, ...own },
        annotations: { "oaas.io/config-hash": hashJson(dress.config["data"]) },
      },
      spec: podSpec(plan, dress, group, { image, isSet }),
    },
  };
  const head = { apiVersion: "apps/v1", name: group.name, labels: { ...labels, ...own } };
  if (!isSet) {
    return createManifest(
      input,
      { ...head, kind: "Deployment" },
      { spec: { ...shared, strategy: { type: "Recreate" } } },
    );
  }
  return createManifest(
    input,
    { ...head, kind: "StatefulSet" },
    {
      spec: {
        ...shared,
        serviceName: plan.names.pods,
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "RollingUpdate" },
        persistentVolumeClaimRetentionPolicy: plan.persistent
          ? { whenDeleted: "Delete", whenScaled: "Retain" }
          : undefined,
        volumeClaimTemplates: plan.persistent ? [volumeClaim(plan)] : undefined,
      },
    },
  );
}

function podSpec(
  plan: OdgmPlan,
  { selector }: Dress,
  group: NodeGroup,
  { image, isSet }: { readonly image: string; readonly isSet: boolean },
): Readonly<Record<string, unknown>> {
  const { input, policy } = plan.classPlan;
  const environment = input.environment?.spec;
  return {
    containers: [
      {
        name: "odgm",
        image,
        imagePullPolicy: imagePullPolicy(image, input.cluster.odgm.pullPolicy ?? environment?.images?.pull_policy),
        ports: [
          { name: "http", containerPort: ODGM_PORT, protocol: "TCP" },
          { name: "zenoh", containerPort: ZENOH_PORT, protocol: "TCP" },
        ],
        env: odgmEnv(plan, group),
        resources: containerResources(
          withOverrides(policy.odgmResources, environmentAmounts(environment?.odgm.container_resources.odgm)),
        ),
        volumeMounts: [
          { name: DATA_VOLUME, mountPath: "/data" },
          { name: CONFIG_VOLUME, mountPath: CONFIG_PATH, readOnly: true },
        ],
        securityContext: CONTAINER_SECURITY,
        ...renderPortProbes(ODGM_PORT, policy.probes, environment?.odgm.health_checks.odgm ?? ODGM_TIMING),
      },
    ],
    volumes: [
      ...(plan.persistent ? [] : [{ name: DATA_VOLUME, emptyDir: {} }]),
      { name: CONFIG_VOLUME, configMap: { name: plan.names.config } },
    ],
    securityContext: podSecurity([ODGM_PORT]),
    terminationGracePeriodSeconds: policy.terminationGraceSeconds,
    ...renderPodIdentity(environment),
    ...renderScheduling({
      input,
      policy,
      selector,
      spread: plan.nodes.ids.length > 1 ? policy.odgmSpread : "none",
      revisionLabel: isSet ? undefined : "pod-template-hash",
    }),
  };
}

function volumeClaim({ classPlan }: OdgmPlan): unknown {
  const { spec, environment } = classPlan.input;
  const storage = environment?.spec.odgm.storage;
  return {
    metadata: { name: DATA_VOLUME },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: storage?.storageClassName,
      resources: {
        requests: {
          storage:
            spec.state_spec?.storage_request ?? spec.resource_allocation?.storage_request ?? storage?.size ?? "1Gi",
        },
      },
    },
  };
}

/** The configured image of the state store, of the environment before the cluster. */
export function odgmImageOf({ environment, cluster }: RenderInput): string | undefined {
  return environment?.spec.images?.odgm ?? cluster.odgm.image;
}

function odgmImage({ classPlan: { input } }: OdgmPlan): Result<string, Violation> {
  const path = pathOf(ROOT_PATH, "odgm_config");
  const configured = odgmImageOf(input);
  if (configured === undefined) return err({ path, message: "the state store has no image" });
  const image = resolveImage(configured, input.environment?.spec.images);
  return image.ok ? image : err({ ...image.error, path });
}
