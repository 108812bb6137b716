import { equalJson, type KubeObject, type Stored } from "@oaas/kube-core";
import { create, createDecision, update, type Decision } from "../loop/decision.ts";
import { conditionIn, type Claim } from "../objects/conditions.ts";
import { KNATIVE_CONFIGURATIONS, KNATIVE_REVISIONS, KNATIVE_ROUTES, KNATIVE_SERVICES } from "../objects/resources.ts";
import {
  createChildMetadata,
  isObservedBy,
  isTrue,
  LABELS,
  propagateCondition,
  setReady,
  statusDecision,
  withoutConfiguration,
  type KnativeObject,
  type KnativeRevision,
} from "./knative-objects.ts";

export interface KnativeServiceState {
  readonly service: Stored<KnativeObject>;
  readonly configuration: Stored<KnativeObject> | undefined;
  readonly route: Stored<KnativeObject> | undefined;
  readonly now: number;
}

/** A Service is a Configuration and a Route of its name, and reports their state. */
export function decideKnativeService({ service, configuration, route, now }: KnativeServiceState): Decision {
  const { name, uid } = service.metadata;
  const labels = { ...service.metadata.labels, [LABELS.service]: name, [LABELS.serviceUid]: uid };
  const template = service.spec?.template ?? {};
  const traffic = (service.spec?.traffic ?? [{ latestRevision: true, percent: 100 }]).map((one) =>
    one.revisionName === undefined ? { ...one, configurationName: name } : one,
  );
  if (!configuration)
    return createDecision([
      create(
        KNATIVE_CONFIGURATIONS,
        createChildMetadata(service, KNATIVE_CONFIGURATIONS, name, labels, { spec: { template } }),
      ),
    ]);
  if (!equalJson(configuration.spec?.template, template))
    return createDecision([
      update(KNATIVE_CONFIGURATIONS, { ...configuration, spec: { ...configuration.spec, template } }),
    ]);
  if (!route)
    return createDecision([
      create(KNATIVE_ROUTES, createChildMetadata(service, KNATIVE_ROUTES, name, labels, { spec: { traffic } })),
    ]);
  if (!equalJson(route.spec?.traffic, traffic))
    return createDecision([update(KNATIVE_ROUTES, { ...route, spec: { ...route.spec, traffic } })]);
  const configured = propagateCondition("ConfigurationsReady", configuration.status, isObservedBy(configuration));
  const routed = propagateCondition("RoutesReady", route.status, isObservedBy(route));
  const { latestCreatedRevisionName, latestReadyRevisionName } = configuration.status ?? {};
  const { url, address, traffic: assigned } = route.status ?? {};
  return statusDecision(KNATIVE_SERVICES, service, {
    observedGeneration: service.metadata.generation ?? 1,
    conditions: setReady(service.status, [configured, routed], now),
    ...(latestCreatedRevisionName === undefined ? {} : { latestCreatedRevisionName }),
    ...(latestReadyRevisionName === undefined ? {} : { latestReadyRevisionName }),
    ...(url === undefined ? {} : { url }),
    ...(address === undefined ? {} : { address }),
    ...(assigned === undefined ? {} : { traffic: assigned.map(withoutConfiguration) }),
  });
}

export interface ConfigurationState {
  readonly configuration: Stored<KnativeObject>;
  readonly revisions: readonly Stored<KnativeRevision>[];
  readonly now: number;
}

/** Each change of the template is a revision, numbered by the generation. */
export function decideConfiguration({ configuration, revisions, now }: ConfigurationState): Decision {
  const { metadata, spec, status } = configuration;
  const generation = String(metadata.generation ?? 1);
  const name = spec?.template?.metadata?.name ?? `${metadata.name}-${generation.padStart(5, "0")}`;
  const latest = revisions.find((one) => one.metadata.labels?.[LABELS.generation] === generation);
  if (!latest) return createDecision([create(KNATIVE_REVISIONS, revisionOf(configuration, name, generation))]);
  const ready = revisions
    .filter((one) => isTrue(one.status, "Ready"))
    .toSorted((a, b) => numberOf(b) - numberOf(a))
    .at(0);
  const latestReady = ready?.metadata.name ?? status?.latestReadyRevisionName;
  const condition = conditionIn(latest.status?.conditions, "Ready");
  const claims: readonly Claim[] =
    condition?.status === "False"
      ? [
          {
            type: "Ready",
            status: "False",
            reason: "RevisionFailed",
            message: `Revision "${latest.metadata.name}" failed with message: ${condition.message ?? ""}.`,
          },
        ]
      : condition?.status === "True"
        ? []
        : [{ type: "Ready", status: "Unknown" }];
  return statusDecision(KNATIVE_CONFIGURATIONS, configuration, {
    observedGeneration: metadata.generation ?? 1,
    conditions: setReady(status, claims, now),
    latestCreatedRevisionName: latest.metadata.name,
    ...(latestReady === undefined ? {} : { latestReadyRevisionName: latestReady }),
  });
}

function numberOf({ metadata }: KubeObject): number {
  return Number(metadata.labels?.[LABELS.generation] ?? 0);
}

function revisionOf(configuration: Stored<KnativeObject>, name: string, generation: string): object {
  const { template } = configuration.spec ?? {};
  const service = configuration.metadata.labels?.[LABELS.service];
  const labels = {
    ...template?.metadata?.labels,
    [LABELS.configuration]: configuration.metadata.name,
    [LABELS.configurationUid]: configuration.metadata.uid,
    [LABELS.generation]: generation,
    ...(service === undefined ? {} : { [LABELS.service]: service }),
  };
  const child = createChildMetadata(configuration, KNATIVE_REVISIONS, name, labels, {
    spec: template?.spec ?? {},
  }) as KubeObject;
  const annotations = template?.metadata?.annotations;
  return annotations === undefined ? child : { ...child, metadata: { ...child.metadata, annotations } };
}
