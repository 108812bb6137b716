import type { KubeObject, Stored } from "@oaas/kube-core";
import { create, createDecision, type Decision } from "../loop/decision.ts";
import { conditionIn, type Claim } from "../objects/conditions.ts";
import { KNATIVE_ROUTES, SERVICES } from "../objects/resources.ts";
import {
  createChildMetadata,
  LABELS,
  setReady,
  statusDecision,
  withoutConfiguration,
  type KnativeObject,
  type Traffic,
} from "./knative-objects.ts";

export interface RouteState {
  readonly route: Stored<KnativeObject>;
  readonly configuration: Stored<KnativeObject> | undefined;
  readonly placeholder: Stored<KubeObject> | undefined;
  readonly domain: string;
  readonly now: number;
}

/** Traffic goes to the newest ready revision, or to the named one. */
export function decideRoute({ route, configuration, placeholder, domain, now }: RouteState): Decision {
  const { name, namespace = "" } = route.metadata;
  const latest = configuration?.status?.latestReadyRevisionName;
  const isLocal = route.metadata.labels?.["networking.knative.dev/visibility"] === "cluster-local";
  const local = `http://${name}.${namespace}.svc.cluster.local`;
  const url = isLocal ? local : `http://${name}.${namespace}.${domain}`;
  if (latest === undefined) {
    const failed = conditionIn(configuration?.status?.conditions, "Ready")?.status === "False";
    const missing: Claim = {
      type: "AllTrafficAssigned",
      status: failed ? "False" : "Unknown",
      reason: "RevisionMissing",
      message: `Configuration "${configuration?.metadata.name ?? name}" ${failed ? "does not have any ready Revision" : "is waiting for a Revision to become ready"}.`,
    };
    return statusDecision(KNATIVE_ROUTES, route, {
      observedGeneration: route.metadata.generation ?? 1,
      url,
      conditions: setReady(route.status, [missing], now),
    });
  }
  if (placeholder && !placeholder.metadata.ownerReferences?.some(({ uid }) => uid === route.metadata.uid))
    return createForeignRouteStatus(route, url, now);
  if (!placeholder) {
    const spec = {
      type: "ExternalName",
      externalName: `${latest}.${namespace}.svc.cluster.local`,
      sessionAffinity: "None",
      ports: [{ name: "http2", port: 80, targetPort: 80 }],
    };
    return createDecision([
      create(
        SERVICES,
        createChildMetadata(route, SERVICES, name, { ...route.metadata.labels, [LABELS.route]: name }, { spec }),
      ),
    ]);
  }
  const traffic: readonly Traffic[] = (route.spec?.traffic ?? []).map((one) => ({
    ...withoutConfiguration(one),
    revisionName: one.revisionName ?? latest,
    latestRevision: one.revisionName === undefined,
  }));
  const claims: readonly Claim[] = [
    { type: "AllTrafficAssigned", status: "True" },
    {
      type: "CertificateProvisioned",
      status: "True",
      reason: "TLSNotEnabled",
      message: "external-domain-tls is not enabled",
    },
    { type: "IngressReady", status: "True" },
  ];
  return statusDecision(KNATIVE_ROUTES, route, {
    observedGeneration: route.metadata.generation ?? 1,
    url,
    address: { url: local },
    traffic,
    conditions: setReady(route.status, claims, now),
  });
}

function createForeignRouteStatus(route: Stored<KnativeObject>, url: string, now: number): Decision {
  const { name } = route.metadata;
  const claim: Claim = {
    type: "IngressReady",
    status: "False",
    reason: "NotOwned",
    message: `There is an existing placeholder Service "${name}" that we do not own.`,
  };
  return statusDecision(KNATIVE_ROUTES, route, {
    observedGeneration: route.metadata.generation ?? 1,
    url,
    conditions: setReady(route.status, [claim], now),
  });
}
