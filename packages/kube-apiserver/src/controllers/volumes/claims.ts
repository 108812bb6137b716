import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import {
  create,
  createDecision,
  remove,
  SETTLED,
  recordEvent,
  update,
  updateStatus,
  type Decision,
  type Step,
} from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed } from "../objects/cluster-view.ts";
import { isFinished } from "../objects/pods.ts";
import { CLAIMS, nameOfKey, objectKey, PODS, VOLUMES } from "../objects/resources.ts";
import type { Claim, Pod } from "../objects/typed.ts";

const CLAIM_PROTECTION = "kubernetes.io/pvc-protection";
const VOLUME_PROTECTION = "kubernetes.io/pv-protection";
const PROVISIONER = "simulated.kube.local";

export interface Volume extends KubeObject {
  readonly spec?: {
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
  };
  readonly status?: { readonly phase?: string };
}

export interface ClaimState {
  readonly claim: Stored<Claim>;
  readonly volume: Stored<Volume> | undefined;
  readonly isUsed: boolean;
}

/** Every claim gets its own volume at once; a deleted claim is removed when no pod uses it. */
export function decideClaim({ claim, volume, isUsed }: ClaimState): Decision {
  const { metadata, spec = {}, status } = claim;
  if (metadata.deletionTimestamp !== undefined)
    return isUsed ? SETTLED : createDecision(removeProtection(CLAIMS, claim, CLAIM_PROTECTION));
  const name = spec.volumeName ?? `pvc-${metadata.uid}`;
  if (!volume) {
    if (spec.volumeName !== undefined) return SETTLED;
    const message = `Successfully provisioned volume ${name}`;
    return createDecision([
      create(VOLUMES, createVolume(claim, name)),
      recordEvent({ about: claim, type: "Normal", reason: "ProvisioningSucceeded", message }),
    ]);
  }
  if (spec.volumeName === undefined) {
    const annotations = {
      ...metadata.annotations,
      "pv.kubernetes.io/bind-completed": "yes",
      "pv.kubernetes.io/bound-by-controller": "yes",
    };
    return createDecision([
      update(CLAIMS, { ...claim, metadata: { ...metadata, annotations }, spec: { ...spec, volumeName: name } }),
    ]);
  }
  if (volume.status?.phase !== "Bound") {
    return createDecision([updateStatus(VOLUMES, { ...volume, status: { ...volume.status, phase: "Bound" } })]);
  }
  if (status?.phase === "Bound") return SETTLED;
  const bound = { phase: "Bound", accessModes: spec.accessModes ?? [], capacity: spec.resources?.requests ?? {} };
  return createDecision([updateStatus(CLAIMS, { ...claim, status: { ...status, ...bound } })]);
}

function createVolume({ metadata, spec = {} }: Stored<Claim>, name: string): object {
  return {
    apiVersion: VOLUMES.apiVersion,
    kind: VOLUMES.kind,
    metadata: {
      name,
      annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER },
      finalizers: [VOLUME_PROTECTION],
    },
    spec: {
      accessModes: spec.accessModes ?? ["ReadWriteOnce"],
      capacity: spec.resources?.requests ?? {},
      claimRef: {
        apiVersion: "v1",
        kind: CLAIMS.kind,
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
      },
      csi: { driver: PROVISIONER, volumeHandle: name },
      persistentVolumeReclaimPolicy: "Delete",
      ...(spec.storageClassName === undefined ? {} : { storageClassName: spec.storageClassName }),
      volumeMode: spec.volumeMode ?? "Filesystem",
    },
  };
}

/** A provisioned volume is deleted with its claim. */
export function decideVolume(volume: Stored<Volume>, hasClaim: boolean): Decision {
  const { metadata } = volume;
  const isOurs = metadata.annotations?.["pv.kubernetes.io/provisioned-by"] === PROVISIONER;
  if (!isOurs || hasClaim) return SETTLED;
  if (metadata.deletionTimestamp === undefined) return createDecision([remove(VOLUMES, volume)]);
  return createDecision(removeProtection(VOLUMES, volume, VOLUME_PROTECTION));
}

function removeProtection(kind: typeof CLAIMS, object: Stored<KubeObject>, finalizer: string): Step[] {
  const { finalizers = [], ...metadata } = object.metadata;
  if (!finalizers.includes(finalizer)) return [];
  const remaining = finalizers.filter((one) => one !== finalizer);
  return [
    update(kind, { ...object, metadata: remaining.length === 0 ? metadata : { ...metadata, finalizers: remaining } }),
  ];
}

export function claimController(): Controller {
  return {
    name: "claims",
    reporter: "persistentvolume-controller",
    writer: "kube-controller-manager",
    watches: [
      watchOwn(CLAIMS),
      { kind: VOLUMES, isSecondary: true, keys: (object) => claimOf(typed(object)) },
      { kind: PODS, isSecondary: true, keys: (object, _, change) => (change?.object ? [] : claimsOf(typed(object))) },
    ],
    decide(key, { view }) {
      const { namespace, name } = nameOfKey(key);
      const claim = view.get<Claim>(CLAIMS, namespace, name);
      if (!claim) return SETTLED;
      const isGoing = claim.metadata.deletionTimestamp !== undefined;
      return decideClaim({
        claim,
        volume: view.get<Volume>(VOLUMES, "", claim.spec?.volumeName ?? `pvc-${claim.metadata.uid}`),
        isUsed:
          isGoing && view.list<Pod>(PODS, namespace).some((pod) => !isFinished(pod) && claimsOf(pod).includes(key)),
      });
    },
  };
}

export function volumeController(): Controller {
  return {
    name: "volumes",
    reporter: "persistentvolume-controller",
    writer: "kube-controller-manager",
    watches: [
      { kind: VOLUMES, keys: (object) => [objectKey("", typed(object).metadata.name)] },
      {
        kind: CLAIMS,
        isSecondary: true,
        keys: (object) => [objectKey("", typed<Claim>(object).spec?.volumeName ?? `pvc-${typed(object).metadata.uid}`)],
      },
    ],
    decide(key, { view }) {
      const volume = view.get<Volume>(VOLUMES, "", nameOfKey(key).name);
      if (!volume) return SETTLED;
      const { namespace = "", name = "", uid } = volume.spec?.claimRef ?? {};
      return decideVolume(volume, view.get<Claim>(CLAIMS, namespace, name)?.metadata.uid === uid);
    },
  };
}

function claimOf({ spec }: Volume): string[] {
  return spec?.claimRef === undefined ? [] : [objectKey(spec.claimRef.namespace, spec.claimRef.name)];
}

function claimsOf({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim: claim }) =>
    claim === undefined ? [] : [objectKey(metadata.namespace, claim.claimName)],
  );
}
