import { isAutoscaled } from "../manifests/autoscaler.ts";
import { componentLabels, HEADLESS_LABEL, selectorLabels } from "../manifests/labels.ts";
import { createManifest } from "../manifests/manifest.ts";
import { podsServiceName, statefulSetName } from "../plan/names.ts";
import { alwaysOnReplicas } from "../plan/scale.ts";
import type { Manifest } from "../model/rendered.ts";
import type { WorkloadContext } from "../manifests/pod.ts";
import type { WorkloadRenderer } from "./workload.ts";
import { renderWorkload, renderPodTemplate } from "./function-children.ts";
import { renderScalableFunction } from "./function-children.ts";

/** Volume of each replica. */
const DATA_VOLUME = { name: "data", mountPath: "/data" };

/** Functions with stable pod names and, when storage is allocated, one volume per replica. */
export const statefulSetRenderer: WorkloadRenderer = {
  callable: true,
  reservedEnv: new Set(),
  whyNotToZero: () => "a StatefulSet has no scaler that starts a replica on a request",
  render(context) {
    const { plan, fn } = context;
    const replicas = alwaysOnReplicas(fn.scale);
    const scaled = isAutoscaled(plan, fn);
    const claims = volumeClaims(context);
    const workload = renderWorkload(context, {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      name: statefulSetName(fn.name),
      body: {
        replicas: scaled ? undefined : replicas,
        serviceName: podsServiceName(fn.name),
        podManagementPolicy: "Parallel",
        selector: { matchLabels: selectorLabels(plan.input, fn.name) },
        updateStrategy: { type: "RollingUpdate" },
        minReadySeconds: plan.policy.minReadySeconds,
        persistentVolumeClaimRetentionPolicy:
          claims === undefined ? undefined : { whenDeleted: "Delete", whenScaled: "Retain" },
        template: claims === undefined ? renderPodTemplate(context) : renderPodTemplate(withDataVolume(context)),
        volumeClaimTemplates: claims,
      },
    });
    const { children, rendered } = renderScalableFunction(context, workload, replicas);
    return { children: [podsService(context), ...children], rendered };
  },
};

function podsService({ plan: { input }, fn }: WorkloadContext): Manifest {
  return createManifest(
    input,
    {
      apiVersion: "v1",
      kind: "Service",
      name: podsServiceName(fn.name),
      labels: { ...componentLabels(input, fn.name, "function", fn.key), [HEADLESS_LABEL]: "true" },
    },
    {
      spec: {
        clusterIP: "None",
        publishNotReadyAddresses: true,
        selector: selectorLabels(input, fn.name),
        ports: [{ name: "http", port: fn.port, targetPort: fn.port, protocol: "TCP" }],
      },
    },
  );
}

function volumeClaims({ plan: { input } }: WorkloadContext): readonly unknown[] | undefined {
  const size = input.spec.resource_allocation?.storage_request;
  if (size === undefined) return undefined;
  return [
    {
      metadata: { name: DATA_VOLUME.name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        storageClassName: input.environment?.spec.odgm.storage.storageClassName,
        resources: { requests: { storage: size } },
      },
    },
  ];
}

/** Mounts the data volume, unless the function mounts another volume there. */
function withDataVolume(context: WorkloadContext): WorkloadContext {
  const { fn } = context;
  const mounts = fn.spec.volume_mounts ?? [];
  const stated = fn.spec.provision_config?.volumeMounts ?? [];
  if ([...mounts, ...stated].some(({ mountPath }) => mountPath === DATA_VOLUME.mountPath)) return context;
  return { ...context, fn: { ...fn, spec: { ...fn.spec, volume_mounts: [...mounts, DATA_VOLUME] } } };
}
