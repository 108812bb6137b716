import type { KubeObject } from "@oaas/kube-core";
import type { Controller, WatchedKind } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import {
  DEPLOYMENTS,
  keyOf,
  KNATIVE_CONFIGURATIONS,
  KNATIVE_REVISIONS,
  KNATIVE_ROUTES,
  KNATIVE_SERVICES,
  nameOfKey,
  objectKey,
  PODS,
  type Resource,
  SERVICES,
} from "../objects/resources.ts";
import type { Deployment, Pod } from "../objects/typed.ts";
import { LABELS, type KnativeObject, type KnativeRevision } from "./knative-objects.ts";
import { decideRevision } from "./revision.ts";
import { decideRoute } from "./route.ts";
import { decideConfiguration, decideKnativeService } from "./service.ts";

/** Knative Serving, where its kinds are served; otherwise it does nothing. */
export function knativeControllers(domain: string): readonly Controller[] {
  return [services(), configurations(), revisions(), routes(domain)];
}

const common = { reporter: "controller", writer: "controller" } as const;

/** Deleted objects are left to the garbage collector. */
function findLive<T extends KubeObject>(
  view: ClusterView,
  kind: Resource,
  key: string,
): ReturnType<typeof view.get<T>> {
  const { namespace, name } = nameOfKey(key);
  const object = view.get<T>(kind, namespace, name);
  return object?.metadata.deletionTimestamp === undefined ? object : undefined;
}

function services(): Controller {
  return {
    ...common,
    name: "knative-services",
    watches: [
      watchOwn(KNATIVE_SERVICES),
      byLabel(KNATIVE_CONFIGURATIONS, LABELS.service),
      byLabel(KNATIVE_ROUTES, LABELS.service),
    ],
    decide(key, { view, now }) {
      const service = findLive<KnativeObject>(view, KNATIVE_SERVICES, key);
      if (!service) return SETTLED;
      const { namespace, name } = nameOfKey(key);
      return decideKnativeService({
        service,
        configuration: view.get<KnativeObject>(KNATIVE_CONFIGURATIONS, namespace, name),
        route: view.get<KnativeObject>(KNATIVE_ROUTES, namespace, name),
        now,
      });
    },
  };
}

function configurations(): Controller {
  return {
    ...common,
    name: "knative-configurations",
    watches: [watchOwn(KNATIVE_CONFIGURATIONS), byLabel(KNATIVE_REVISIONS, LABELS.configuration)],
    decide(key, { view, now }) {
      const configuration = findLive<KnativeObject>(view, KNATIVE_CONFIGURATIONS, key);
      if (!configuration) return SETTLED;
      const revisions = view.controlled<KnativeRevision>(configuration, KNATIVE_REVISIONS);
      return decideConfiguration({ configuration, revisions, now });
    },
  };
}

function revisions(): Controller {
  return {
    ...common,
    name: "knative-revisions",
    watches: [
      watchOwn(KNATIVE_REVISIONS),
      byLabel(DEPLOYMENTS, LABELS.revision),
      byLabel(PODS, LABELS.revision),
      byLabel(SERVICES, LABELS.revision),
      {
        kind: KNATIVE_CONFIGURATIONS,
        isSecondary: true,
        keys: (object, view) => view.controlled<KubeObject>(typed(object), KNATIVE_REVISIONS).map(keyOf),
      },
    ],
    decide(key, { view, now }) {
      const revision = findLive<KnativeRevision>(view, KNATIVE_REVISIONS, key);
      if (!revision) return SETTLED;
      const { namespace, name } = nameOfKey(key);
      const deployment = view.get<Deployment>(DEPLOYMENTS, namespace, `${name}-deployment`);
      return decideRevision({
        revision,
        deployment,
        hasService: view.get(SERVICES, namespace, name) !== undefined,
        pods: view
          .list<Pod>(PODS, namespace)
          .filter(({ metadata }) => metadata.labels?.[LABELS.revisionUid] === revision.metadata.uid),
        isRouted: isRouted(revision, view),
        now,
      });
    },
  };
}

/** For a Configuration, the newest and the newest ready revision; for a Route, the named ones. */
function isRouted({ metadata }: KnativeRevision, view: ClusterView): boolean {
  const { namespace = "", name, labels } = metadata;
  const configuration = view.get<KnativeObject>(
    KNATIVE_CONFIGURATIONS,
    namespace,
    labels?.[LABELS.configuration] ?? "",
  );
  const { latestCreatedRevisionName: created, latestReadyRevisionName: ready } = configuration?.status ?? {};
  const route = view.get<KnativeObject>(KNATIVE_ROUTES, namespace, labels?.[LABELS.service] ?? "");
  const isNamed = route?.spec?.traffic?.some(({ revisionName }) => revisionName === name) ?? false;
  return created === undefined || created === name || ready === name || isNamed;
}

function routes(domain: string): Controller {
  return {
    ...common,
    name: "knative-routes",
    watches: [
      watchOwn(KNATIVE_ROUTES),
      { kind: KNATIVE_CONFIGURATIONS, isSecondary: true, keys: (object) => [keyOf(typed(object))] },
      { kind: SERVICES, isSecondary: true, keys: (object, view) => routeOf(typed(object), view) },
    ],
    decide(key, { view, now }) {
      const route = findLive<KnativeObject>(view, KNATIVE_ROUTES, key);
      if (!route) return SETTLED;
      const { namespace, name } = nameOfKey(key);
      const target = route.spec?.traffic?.find(
        ({ configurationName }) => configurationName !== undefined,
      )?.configurationName;
      return decideRoute({
        route,
        configuration: view.get<KnativeObject>(KNATIVE_CONFIGURATIONS, namespace, target ?? name),
        placeholder: view.get(SERVICES, namespace, name),
        domain,
        now,
      });
    },
  };
}

function routeOf({ metadata }: KubeObject, view: ClusterView): string[] {
  const key = objectKey(metadata.namespace, metadata.name);
  return view.get(KNATIVE_ROUTES, metadata.namespace ?? "", metadata.name ?? "") ? [key] : [];
}

function byLabel(kind: Resource, label: string): WatchedKind {
  return {
    kind,
    isSecondary: true,
    keys: (object) => {
      const { namespace, labels } = typed<KubeObject>(object).metadata;
      const name = labels?.[label];
      return name === undefined ? [] : [objectKey(namespace, name)];
    },
  };
}
