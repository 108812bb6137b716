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
  readyClaim,
  type ObjectClaim,
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
  type Surroundings,
  type TemplateObject,
} from "./user-templates/template-sources.ts";
import type { TemplateRevisions } from "./user-templates/template-revisions.ts";
import { templateKey, type TemplateUsers } from "./user-templates/template-users.ts";

/** What telling templates and environments how they are needs. */
export interface StatusControllerDeps {
  readonly client: KubeClient;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly surroundings: Surroundings;
  readonly quotas: Quotas;
  readonly users: TemplateUsers;
  readonly revisions: TemplateRevisions;
}

/** How often numbers alone (who uses it, how much is taken) are written at most; the first after a while at once. */
const NUMBERS_EVERY_MS = 5_000;

/** Says in the status of every template whether it can be used, which revision it is, and how far its roll-out has come. */
export function templateStatusController(deps: StatusControllerDeps): Controller {
  const { surroundings, users, revisions, client } = deps;
  const objectsOf = (template: string): ObjectKey[] =>
    [...surroundings.templates.cache.list()]
      .filter((object) => templateKey(keyOf(object).namespace, templateId(object)) === template)
      .map(keyOf);
  const sameNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...surroundings.templates.cache.list(metadata.namespace)].map(keyOf);
  return statusController(
    deps,
    {
      name: "deployment-template",
      type: DEPLOYMENT_TEMPLATES,
      get: (key) => surroundings.templates.get(key),
      find: (object) => templateFindings(object, deps),
      after: async (object, signal) => {
        const read = surroundings.readTemplate(object);
        if (!read.ok) return;
        const used = new Set(users.usersOf(keyIn(object)).map(({ revision }) => revision));
        const { revision: newest } = read.value.template;
        await revisions.drop(object, (revision) => revision === newest || used.has(revision), client, signal);
      },
    },
    [
      own(surroundings.templates, { when: specChanged }),
      mapped(surroundings.templates, sameNamespace, { when: specChanged }),
      users.changes(objectsOf),
    ],
  );
}

function keyIn(object: TemplateObject): string {
  return templateKey(keyOf(object).namespace, templateId(object));
}

function templateFindings(
  object: TemplateObject,
  { surroundings, users }: StatusControllerDeps,
): ObjectFindings<{ readonly revision?: string; readonly used_by: number }> {
  const { generation = 0 } = object.metadata;
  const read = surroundings.readTemplate(object);
  const used = { used_by: users.usersOf(keyIn(object)).length };
  const violations = read.ok ? namesakes(object, surroundings) : read.error;
  const ready = readyClaim(violations, "Classes may use it.");
  if (!read.ok || read.value.template.revision === undefined) return { generation, claims: [ready], extra: used };
  const { revision } = read.value.template;
  const claims = [ready, rolledOut(object, revision, users)] as const;
  return { generation, claims, extra: { revision, ...used } };
}

/** How far the newest revision of a template has come. */
function rolledOut(object: TemplateObject, revision: string, users: TemplateUsers): ObjectClaim {
  const template = keyIn(object);
  const type = "RolledOut";
  if (users.usersOf(template).every((user) => user.revision === revision)) {
    const message = `All classes that use ${object.metadata.name} have this revision.`;
    return { type, status: "True", reason: "Ready", message };
  }
  const { haltedBy } = users.plan(template, revision);
  if (haltedBy === undefined) {
    return { type, status: "False", reason: "RollingOut", message: "Classes move to this revision a few at a time." };
  }
  const message = `${haltedBy} failed with this revision; the other classes keep the one they have.`;
  return { type, status: "False", reason: "RollOutHalted", message };
}

/** Of two templates that go by one name the first in the alphabet is used. */
function namesakes(object: TemplateObject, surroundings: Surroundings): readonly Violation[] {
  const names = new Set([templateId(object), ...(object.spec.aliases ?? [])]);
  const other = [...surroundings.templates.cache.list(object.metadata.namespace)].find(
    (one) =>
      one.metadata.name < object.metadata.name &&
      [templateId(one), ...(one.spec.aliases ?? [])].some((name) => names.has(name)),
  );
  if (other === undefined) return [];
  const message = `DeploymentTemplate ${other.metadata.name} goes by the same name or alias`;
  return [{ path: "$.spec.name", message, fix: "give each template names of its own" }];
}

/** Says in the status of every environment whether it can be used, and how much of it is taken. */
export function environmentStatusController(deps: StatusControllerDeps): Controller {
  const { surroundings, quotas } = deps;
  const sameNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...surroundings.environments.cache.list(metadata.namespace)].map(keyOf);
  return statusController(
    deps,
    {
      name: "environment-config",
      type: ENVIRONMENT_CONFIGS,
      get: (key) => surroundings.environments.get(key),
      find: (object) => environmentFindings(object, deps),
    },
    [
      mapped(surroundings.environments, sameNamespace, { when: specChanged }),
      mapped(surroundings.templates, sameNamespace, { when: specChanged }),
      quotas.changedSource(),
    ],
  );
}

function environmentFindings(
  object: EnvironmentObject,
  { surroundings, quotas }: StatusControllerDeps,
): ObjectFindings<object> {
  const { name, namespace = "", generation = 0 } = object.metadata;
  const read = surroundings.readEnvironment(object);
  const violations = read.ok
    ? violationsUnder(
        "$.spec",
        checkEnvironment(name, read.value, {
          templates: [...BUILTIN_TEMPLATES, ...surroundings.userTemplates(namespace)],
          defaultName: surroundings.defaultEnvironment(namespace)?.metadata.name,
        }),
      )
    : read.error;
  const taken = quotas.taken({ namespace, name });
  const usage = taken && {
    classes: taken.classes,
    cpu: formatQuantity(taken.cpu),
    memory: formatQuantity(taken.memory),
    storage: formatQuantity(taken.storage),
  };
  return { generation, claims: [readyClaim(violations, "Classes may belong to it.")], extra: usage ? { usage } : {} };
}

interface StatusKind<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  get(key: ObjectKey): Stored<T> | undefined;
  find(object: Stored<T>): ObjectFindings<object>;
  /** What else there is to do for it. */
  after?(object: Stored<T>, signal: AbortSignal): Promise<void>;
}

function statusController<T extends KubeObject & { readonly status?: ObjectStatus | undefined }>(
  { client, ambient, logger, meter }: StatusControllerDeps,
  kind: StatusKind<T>,
  sources: readonly Source[],
): Controller {
  const numbersAt = new Map<string, number>();
  const reconcile = async (key: ObjectKey, signal: AbortSignal): Promise<Outcome> => {
    const object = kind.get(key);
    const id = formatObjectKey(key);
    if (object === undefined) {
      numbersAt.delete(id);
      return settled();
    }
    if (object.metadata.deletionTimestamp !== undefined) return settled();
    const { status, changed, onlyExtra } = nextObjectStatus(object.status, kind.find(object), ambient.clock.now());
    const restMs = NUMBERS_EVERY_MS - (ambient.clock.monotonic() - (numbersAt.get(id) ?? -NUMBERS_EVERY_MS));
    if (changed && onlyExtra && restMs > 0) return checkAgain(restMs, "numbers are written now and then");
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
      if (onlyExtra) numbersAt.set(id, ambient.clock.monotonic());
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
        log.warn("the status cannot be told", { fault });
        return checkAgain(60_000, fault.message);
      }
    },
  });
}
