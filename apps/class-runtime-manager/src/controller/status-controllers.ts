import { Fault, violationsUnder, type Ambient, type Violation } from "@oaas/foundation";
import { formatObjectKey, formatQuantity, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import {
  checkAgain,
  Controller,
  mapped,
  own,
  settled,
  specChanged,
  type KubeClient,
  type Outcome,
  type ResourceType,
  type Source,
} from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import {
  nextObjectStatus,
  readyCondition,
  type ObjectCondition,
  type ObjectFindings,
  type ObjectStatus,
} from "../lifecycle/status/object-status.ts";
import { checkEnvironment } from "../templates/environment/check-environment.ts";
import { BUILTIN_TEMPLATES } from "../templates/index.ts";
import { FIELD_MANAGER } from "./children/ownership.ts";
import { DEPLOYMENT_TEMPLATES, ENVIRONMENT_CONFIGS } from "./kinds/resource-types.ts";
import type { Quotas } from "./quotas/quotas.ts";
import {
  templateId,
  type EnvironmentObject,
  type TemplateSources,
  type TemplateObject,
} from "./user-templates/template-sources.ts";
import type { TemplateRevisions } from "./user-templates/template-revisions.ts";
import { templateKey, type TemplateUsers } from "./user-templates/template-users.ts";

/** Dependencies of the status controllers of templates and environments. */
export interface StatusControllerDeps {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly templateSources: TemplateSources;
  readonly quotas: Quotas;
  readonly users: TemplateUsers;
  readonly revisions: TemplateRevisions;
}

/** Least time between two status writes that change only counts (users, usage). */
const COUNTS_INTERVAL_MS = 5_000;

/** Writes the status of templates: whether they are valid, their revision, and the progress of the roll-out. */
export function templateStatusController(deps: StatusControllerDeps): Controller {
  const { templateSources, users, revisions, client } = deps;
  const objectsOf = (template: string): ObjectKey[] =>
    [...templateSources.templates.cache.list()]
      .filter((object) => templateKey(keyOf(object).namespace, templateId(object)) === template)
      .map(keyOf);
  const sameNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...templateSources.templates.cache.list(metadata.namespace)].map(keyOf);
  return statusController(
    deps,
    {
      name: "deployment-template",
      type: DEPLOYMENT_TEMPLATES,
      get: (key) => templateSources.templates.get(key),
      evaluate: (object) => templateFindings(object, deps),
      after: async (object, signal) => {
        const read = templateSources.readTemplate(object);
        if (!read.ok) return;
        const used = new Set(users.usersOf(templateKeyOf(object)).map(({ revision }) => revision));
        const { revision: newest } = read.value.template;
        await revisions.prune(object, (revision) => revision === newest || used.has(revision), client, signal);
      },
    },
    [
      own(templateSources.templates, { when: specChanged }),
      mapped(templateSources.templates, sameNamespace, { when: specChanged }),
      users.changedSource(objectsOf),
    ],
  );
}

function templateKeyOf(object: TemplateObject): string {
  return templateKey(keyOf(object).namespace, templateId(object));
}

function templateFindings(
  object: TemplateObject,
  { templateSources, users }: StatusControllerDeps,
): ObjectFindings<{ readonly revision?: string; readonly used_by: number }> {
  const { generation = 0 } = object.metadata;
  const read = templateSources.readTemplate(object);
  const used = { used_by: users.usersOf(templateKeyOf(object)).length };
  const violations = read.ok ? checkNameConflicts(object, templateSources) : read.error;
  const ready = readyCondition(violations, "Classes may use it.");
  if (!read.ok || read.value.template.revision === undefined) return { generation, conditions: [ready], extra: used };
  const { revision } = read.value.template;
  const conditions = [ready, rolledOutClaim(object, revision, users)] as const;
  return { generation, conditions, extra: { revision, ...used } };
}

/** Whether all classes use the newest revision of a template. */
function rolledOutClaim(object: TemplateObject, revision: string, users: TemplateUsers): ObjectCondition {
  const template = templateKeyOf(object);
  const type = "RolledOut";
  if (users.usersOf(template).every((user) => user.revision === revision)) {
    const message = `All classes that use ${object.metadata.name} have this revision.`;
    return { type, status: "True", reason: "Ready", message };
  }
  const { haltedBy } = users.plan(template, revision);
  if (haltedBy === undefined) {
    return { type, status: "False", reason: "RollingOut", message: "Classes move to this revision a few at a time." };
  }
  const message = `${haltedBy} failed with this revision; the other classes keep their current one.`;
  return { type, status: "False", reason: "RollOutHalted", message };
}

/** Reports a template whose id or alias another template of the namespace has. The first by name is used. */
function checkNameConflicts(object: TemplateObject, templateSources: TemplateSources): readonly Violation[] {
  const names = new Set([templateId(object), ...(object.spec.aliases ?? [])]);
  const other = [...templateSources.templates.cache.list(object.metadata.namespace)].find(
    (one) =>
      one.metadata.name < object.metadata.name &&
      [templateId(one), ...(one.spec.aliases ?? [])].some((name) => names.has(name)),
  );
  if (other === undefined) return [];
  const message = `DeploymentTemplate ${other.metadata.name} has the same name or alias`;
  return [{ path: "$.spec.name", message, fix: "give each template a unique name and unique aliases" }];
}

/** Writes the status of environments: whether they are valid, and their usage. */
export function environmentStatusController(deps: StatusControllerDeps): Controller {
  const { templateSources, quotas } = deps;
  const sameNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...templateSources.environments.cache.list(metadata.namespace)].map(keyOf);
  return statusController(
    deps,
    {
      name: "environment-config",
      type: ENVIRONMENT_CONFIGS,
      get: (key) => templateSources.environments.get(key),
      evaluate: (object) => environmentFindings(object, deps),
    },
    [
      mapped(templateSources.environments, sameNamespace, { when: specChanged }),
      mapped(templateSources.templates, sameNamespace, { when: specChanged }),
      quotas.changedSource(),
    ],
  );
}

function environmentFindings(
  object: EnvironmentObject,
  { templateSources, quotas }: StatusControllerDeps,
): ObjectFindings<object> {
  const { name, namespace = "", generation = 0 } = object.metadata;
  const read = templateSources.readEnvironment(object);
  const defaultName = templateSources.defaultEnvironment(namespace)?.metadata.name;
  const violations = read.ok
    ? violationsUnder(
        "$.spec",
        checkEnvironment(name, read.value, {
          templates: [...BUILTIN_TEMPLATES, ...templateSources.userTemplates(namespace)],
          defaultName,
        }),
      )
    : read.error;
  const demand = quotas.usage({ namespace, name });
  const usage = demand && {
    classes: demand.classes,
    cpu: formatQuantity(demand.cpu),
    memory: formatQuantity(demand.memory),
    storage: formatQuantity(demand.storage),
  };
  const message =
    defaultName === undefined
      ? "Classes may use it. The namespace has no default environment, so classes that name none have no limits."
      : "Classes may use it.";
  return { generation, conditions: [readyCondition(violations, message)], extra: usage ? { usage } : {} };
}

interface StatusKind<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  get(key: ObjectKey): Stored<T> | undefined;
  evaluate(object: Stored<T>): ObjectFindings<object>;
  /** Further work after the status was written. */
  after?(object: Stored<T>, signal: AbortSignal): Promise<void>;
}

function statusController<T extends KubeObject & { readonly status?: ObjectStatus | undefined }>(
  { client, ambient, logger, meter }: StatusControllerDeps,
  kind: StatusKind<T>,
  sources: readonly Source[],
): Controller {
  const countsWrittenAt = new Map<string, number>();
  const reconcile = async (key: ObjectKey, signal: AbortSignal): Promise<Outcome> => {
    const object = kind.get(key);
    const id = formatObjectKey(key);
    if (object === undefined) {
      countsWrittenAt.delete(id);
      return settled();
    }
    if (object.metadata.deletionTimestamp !== undefined) return settled();
    const { status, changed, onlyExtra } = nextObjectStatus(object.status, kind.evaluate(object), ambient.clock.now());
    const restMs = COUNTS_INTERVAL_MS - (ambient.clock.monotonic() - (countsWrittenAt.get(id) ?? -COUNTS_INTERVAL_MS));
    if (changed && onlyExtra && restMs > 0) return checkAgain(restMs, "counts are written at an interval");
    if (changed) {
      const { apiVersion, metadata } = object;
      const manifest = {
        apiVersion,
        kind: object.kind,
        metadata: { name: metadata.name, namespace: metadata.namespace },
        status,
      };
      await client
        .resource(kind.type)
        .apply(manifest as unknown as T, { fieldManager: FIELD_MANAGER, force: true, subresource: "status", signal });
      if (onlyExtra) countsWrittenAt.set(id, ambient.clock.monotonic());
    }
    await kind.after?.(object, signal);
    return settled();
  };
  return new Controller({
    name: kind.name,
    ambient,
    logger,
    meter,
    concurrency: 1,
    sources,
    reconcile: async (key, { signal, logger: log }) => {
      try {
        return await reconcile(key, signal);
      } catch (thrown) {
        const fault = Fault.from(thrown);
        if (fault.kind === "not-found") return settled();
        if (fault.kind !== "permission-denied") throw fault;
        log.warn("write status forbidden", { fault });
        return checkAgain(60_000, fault.message);
      }
    },
  });
}
