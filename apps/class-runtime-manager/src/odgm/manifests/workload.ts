import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { resolveImage, imagePullPolicy } from "../../rendering/plan/images.ts";
import { ENVIRONMENT_LABEL, type Labels } from "../../rendering/manifests/labels.ts";
import { createManifest } from "../../rendering/manifests/manifest.ts";
import { statefulSetName, withSuffix } from "../../rendering/plan/names.ts";
import { renderPodIdentity } from "../../rendering/manifests/pod.ts";
import { ODGM_TIMING, renderPortProbes } from "../../rendering/manifests/probes.ts";
import { containerResources, environmentAmounts, withOverrides } from "../../rendering/plan/resources.ts";
import { renderScheduling } from "../../rendering/manifests/scheduling.ts";
import { CONTAINER_SECURITY, podSecurity } from "../../rendering/manifests/security.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import { SHARDS_CONDITION } from "../../state-store/running-store.ts";
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
}

/** One StatefulSet for nodes with indexes, else one for each node. The manager restarts their pods itself. */
export function odgmWorkloads(
  plan: OdgmPlan,
  groups: readonly NodeGroup[],
  dress: Dress,
): Result<readonly Manifest[], readonly Violation[]> {
  const image = odgmImage(plan);
  if (!image.ok) return err([image.error]);
  return ok(groups.map((group) => statefulSet(plan, dress, group, image.value)));
}

/** The StatefulSets of a state store with the nodes that each runs. */
export function nodeGroups({ nodes, names }: OdgmPlan): readonly NodeGroup[] {
  if (nodes.kind === "numbered") return [{ name: statefulSetName(names.workload), replicas: nodes.nodes.length }];
  return nodes.nodes.map((nodeId, index) => ({
    name: statefulSetName(index === 0 ? names.workload : withSuffix(names.workload, String(index))),
    replicas: 1,
    nodeId,
  }));
}

function statefulSet(plan: OdgmPlan, dress: Dress, group: NodeGroup, image: string): Manifest {
  const { persistent } = plan.layout;
  // Each group selects only its own pods.
  const own: Labels = group.nodeId === undefined ? {} : { "oaas.io/node": String(group.nodeId) };
  const labels = { ...dress.labels, ...own };
  // Another environment with the same settings does not replace pods.
  const { [ENVIRONMENT_LABEL]: _environment, ...podLabels } = labels;
  return createManifest(
    plan.classPlan.input,
    { apiVersion: "apps/v1", kind: "StatefulSet", name: group.name, labels },
    {
      spec: {
        replicas: group.replicas,
        serviceName: plan.names.pods,
        selector: { matchLabels: { ...dress.selector, ...own } },
        template: { metadata: { labels: podLabels }, spec: podSpec(plan, dress, group, image) },
        podManagementPolicy: "Parallel",
        updateStrategy: { type: "OnDelete" },
        persistentVolumeClaimRetentionPolicy: persistent ? { whenDeleted: "Delete", whenScaled: "Retain" } : undefined,
        volumeClaimTemplates: persistent ? [volumeClaim(plan)] : undefined,
      },
    },
  );
}

/** The state store ignores SIGTERM, so that waiting longer only delays its restart. */
const GRACE_SECONDS = 5;

function podSpec(
  plan: OdgmPlan,
  { selector }: Dress,
  group: NodeGroup,
  image: string,
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
    readinessGates: input.cluster.odgm.gatesReadiness === true ? [{ conditionType: SHARDS_CONDITION }] : undefined,
    volumes: [
      ...(plan.layout.persistent ? [] : [{ name: DATA_VOLUME, emptyDir: {} }]),
      { name: CONFIG_VOLUME, configMap: { name: plan.names.config } },
    ],
    securityContext: podSecurity([ODGM_PORT]),
    terminationGracePeriodSeconds: GRACE_SECONDS,
    ...renderPodIdentity(environment),
    ...renderScheduling({ input, policy, selector, spread: policy.odgmSpread }),
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
