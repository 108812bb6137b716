import type {
  DeploymentTemplate,
  DeploymentTemplateSpec,
  EnvironmentConfig,
  EnvironmentConfigSpec,
} from "@oaas/contracts/crd";
import { ok, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import type { InformerPool, InformerView } from "@oaas/kube-runtime";
import { readEnvironmentSpec, readTemplateSpec } from "../../mapping/record/read-class-runtime.ts";
import { userTemplate, type Environment, type Template } from "../../templates/index.ts";
import { DEPLOYMENT_TEMPLATES, ENVIRONMENT_CONFIGS } from "../kinds/resource-types.ts";

/** A template of a user as the server has it. */
export type TemplateObject = Stored<DeploymentTemplate & KubeObject>;
/** An environment as the server has it. */
export type EnvironmentObject = Stored<EnvironmentConfig & KubeObject>;

/** A template of a user, with the spec in the one form that its revision is made of. */
export interface ReadTemplate {
  readonly template: Template;
  readonly spec: DeploymentTemplateSpec;
}

/** What decides about a class besides the class itself: environments and templates of users. */
export class Surroundings {
  readonly environments: InformerView<EnvironmentConfig & KubeObject>;
  readonly templates: InformerView<DeploymentTemplate & KubeObject>;
  /** Objects in a cache are never changed, so that each is read once. */
  readonly #readTemplates = new WeakMap<TemplateObject, Result<ReadTemplate, readonly Violation[]>>();
  readonly #readEnvironments = new WeakMap<EnvironmentObject, Result<EnvironmentConfigSpec, readonly Violation[]>>();

  constructor(pool: InformerPool, namespaces: readonly string[] | undefined) {
    this.environments = pool.view(ENVIRONMENT_CONFIGS, namespaces);
    this.templates = pool.view(DEPLOYMENT_TEMPLATES, namespaces);
  }

  /** The environment a class asks for; without a wish the one that says it is the default, else the one that is called so. */
  environmentOf(namespace: string, wanted: string | undefined): Environment | undefined {
    const found =
      wanted === undefined ? this.defaultEnvironment(namespace) : this.environments.get({ namespace, name: wanted });
    const spec = found && this.readEnvironment(found);
    return spec?.ok === true && found ? { name: found.metadata.name, spec: spec.value } : undefined;
  }

  /** Whether classes of this namespace may belong to one. */
  hasEnvironments(namespace: string): boolean {
    for (const _ of this.environments.cache.list(namespace)) return true;
    return false;
  }

  /** Of several defaults the oldest, then the first by name, so that a new one changes nothing for those who rely on it. */
  defaultEnvironment(namespace: string): EnvironmentObject | undefined {
    const flagged = [...this.environments.cache.list(namespace)].filter(({ spec }) => spec.default);
    const age = ({ metadata }: EnvironmentObject): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
    const [oldest] = flagged.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
    return oldest ?? this.environments.get({ namespace, name: "default" });
  }

  /** What an environment says, or every field that is wrong with it. */
  readEnvironment(object: EnvironmentObject): Result<EnvironmentConfigSpec, readonly Violation[]> {
    const read = this.#readEnvironments.get(object) ?? readEnvironmentSpec(object);
    this.#readEnvironments.set(object, read);
    return read;
  }

  /** Templates of users in this namespace; those that are invalid are left out, and say so in their own status. */
  userTemplates(namespace: string): readonly Template[] {
    return [...this.templates.cache.list(namespace)].flatMap((object) => {
      const read = this.readTemplate(object);
      return read.ok ? [read.value.template] : [];
    });
  }

  /** A template as it is, or every field that is wrong with it. */
  readTemplate(object: TemplateObject): Result<ReadTemplate, readonly Violation[]> {
    const read = this.#readTemplates.get(object) ?? readTemplate(object);
    this.#readTemplates.set(object, read);
    return read;
  }

  /** The object behind the name by which classes select a template. */
  templateObject(namespace: string, id: string): TemplateObject | undefined {
    for (const object of this.templates.cache.list(namespace)) if (templateId(object) === id) return object;
    return undefined;
  }
}

/** The name by which classes select a template. */
export function templateId({ metadata, spec }: TemplateObject): string {
  return spec.name ?? metadata.name;
}

function readTemplate(object: TemplateObject): Result<ReadTemplate, readonly Violation[]> {
  const spec = readTemplateSpec(object);
  if (!spec.ok) return spec;
  const made = userTemplate(object.metadata.name, spec.value);
  if (made.ok) return ok({ template: made.value, spec: spec.value });
  return { ok: false, error: violationsUnder("$.spec", made.error) };
}
