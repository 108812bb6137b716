import type {
  DeploymentTemplate,
  DeploymentTemplateSpec,
  EnvironmentConfig,
  EnvironmentConfigSpec,
} from "@oaas/contracts/crd";
import { err, ok, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { InformerPool, InformerView } from "@oaas/kube-runtime";
import { readEnvironmentSpec, readTemplateSpec } from "../../mapping/record/read-class-runtime.ts";
import { checkLimits } from "../../templates/environment/check-limits.ts";
import { checkQueries } from "../../templates/environment/check-queries.ts";
import {
  invalidEnvironment,
  missingEnvironment,
  type EnvironmentRefusal,
} from "../../templates/environment/environment-refusal.ts";
import { userTemplate, type Environment, type Template } from "../../templates/index.ts";
import { DEPLOYMENT_TEMPLATES, ENVIRONMENT_CONFIGS } from "../kinds/resource-types.ts";

/** A DeploymentTemplate in the cluster. */
export type TemplateObject = Stored<DeploymentTemplate & KubeObject>;
/** An EnvironmentConfig in the cluster. */
export type EnvironmentObject = Stored<EnvironmentConfig & KubeObject>;

/** The environment of a class, undefined if it has none, or why the class is rejected. */
export type ResolvedEnvironment = Result<Environment | undefined, EnvironmentRefusal>;

/** A parsed template and its normalized spec, of which the revision is the hash. */
export interface ParsedTemplate {
  readonly template: Template;
  readonly spec: DeploymentTemplateSpec;
}

/** Caches environments and user templates. */
export class TemplateSources {
  readonly environments: InformerView<EnvironmentConfig & KubeObject>;
  readonly templates: InformerView<DeploymentTemplate & KubeObject>;
  /** Cached objects are immutable, so each is parsed once. */
  readonly #parsedTemplates = new WeakMap<TemplateObject, Result<ParsedTemplate, readonly Violation[]>>();
  readonly #parsedEnvironments = new WeakMap<EnvironmentObject, Result<EnvironmentConfigSpec, readonly Violation[]>>();

  /** Namespaces without EnvironmentConfigs use those of this namespace. */
  readonly #shared: string | undefined;

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined, shared?: string) {
    this.#shared = shared;
    this.environments = pool.view(ENVIRONMENT_CONFIGS, namespaces);
    this.templates = pool.view(DEPLOYMENT_TEMPLATES, namespaces);
  }

  /**
   * Resolves the environment of a class: the named one, else the one flagged as default, else the one named "default".
   * Refuses a named environment that is missing and any that is invalid; undefined without a name and a default.
   */
  resolveEnvironment(classNamespace: string, name: string | undefined): ResolvedEnvironment {
    const namespace = this.#environmentsOf(classNamespace);
    const found = name === undefined ? this.defaultEnvironment(namespace) : this.environments.get({ namespace, name });
    if (found === undefined) {
      if (name === undefined) return ok(undefined);
      const known = [...this.environments.cache.list(namespace)].map(({ metadata }) => metadata.name);
      return err(missingEnvironment(namespace, name, known));
    }
    const spec = this.readEnvironment(found);
    if (!spec.ok) return err(invalidEnvironment(found.metadata.name, spec.error));
    return ok({ name: found.metadata.name, spec: spec.value });
  }

  /** Whether any environment applies to the namespace. */
  hasEnvironments(namespace: string): boolean {
    for (const _ of this.environments.cache.list(this.#environmentsOf(namespace))) return true;
    return false;
  }

  /** Whether classes of other namespaces may use the environments of this one. */
  isShared(namespace: string | undefined): boolean {
    return namespace !== undefined && namespace === this.#shared;
  }

  /** The namespace whose environments apply to the classes of a namespace. */
  #environmentsOf(namespace: string): string {
    if (this.#shared === undefined) return namespace;
    for (const _ of this.environments.cache.list(namespace)) return namespace;
    return this.#shared;
  }

  /** Of several defaults the oldest, then the first by name, so that a new default does not move existing classes. */
  defaultEnvironment(namespace: string): EnvironmentObject | undefined {
    const flagged = [...this.environments.cache.list(namespace)].filter(({ spec }) => spec.default);
    const age = ({ metadata }: EnvironmentObject): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
    const [oldest] = flagged.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
    return oldest ?? this.environments.get({ namespace, name: "default" });
  }

  /** Parses an environment, or returns every violation. */
  readEnvironment(object: EnvironmentObject): Result<EnvironmentConfigSpec, readonly Violation[]> {
    const read = this.#parsedEnvironments.get(object) ?? readEnvironment(object);
    this.#parsedEnvironments.set(object, read);
    return read;
  }

  /** The valid user templates of a namespace. Invalid ones report it in their status. */
  userTemplates(namespace: string): readonly Template[] {
    return this.#validTemplates(namespace);
  }

  /** The valid user templates of all namespaces. */
  allTemplates(): readonly Template[] {
    return this.#validTemplates(undefined);
  }

  #validTemplates(namespace: string | undefined): readonly Template[] {
    return [...this.templates.cache.list(namespace)].flatMap((object) => {
      const read = this.readTemplate(object);
      return read.ok ? [read.value.template] : [];
    });
  }

  /** Parses a template, or returns every violation. */
  readTemplate(object: TemplateObject): Result<ParsedTemplate, readonly Violation[]> {
    const read = this.#parsedTemplates.get(object) ?? readTemplate(object);
    this.#parsedTemplates.set(object, read);
    return read;
  }

  /** Finds the template that classes select by this id. */
  findTemplateObject(namespace: string, id: string): TemplateObject | undefined {
    for (const object of this.templates.cache.list(namespace)) if (templateId(object) === id) return object;
    return undefined;
  }
}

/** The id by which classes select a template. */
export function templateId({ metadata, spec }: TemplateObject): string {
  return spec.name ?? metadata.name;
}

function readEnvironment(object: EnvironmentObject): Result<EnvironmentConfigSpec, readonly Violation[]> {
  const spec = readEnvironmentSpec(object);
  if (!spec.ok) return spec;
  const violations = [...checkLimits(spec.value), ...checkQueries(spec.value)];
  return violations.length === 0 ? spec : err(violationsUnder("$.spec", violations));
}

function readTemplate(object: TemplateObject): Result<ParsedTemplate, readonly Violation[]> {
  const spec = readTemplateSpec(object);
  if (!spec.ok) return spec;
  const template = userTemplate(object.metadata.name, spec.value);
  if (template.ok) return ok({ template: template.value, spec: spec.value });
  return { ok: false, error: violationsUnder("$.spec", template.error) };
}
