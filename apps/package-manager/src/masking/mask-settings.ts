import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ClassDeployment, EnvVar, Package, ProvisionConfig } from "@oaas/models";
import { isSecretValue, REDACTED } from "@oaas/observability/secrets";

/*
 * Settings are the environment variables of functions and the attributes of telemetry. Each function returns its argument
 * itself when it contains no secret.
 */

type Settings = Readonly<Record<string, string>>;

interface WithSettings {
  readonly config: Settings;
  readonly provision?: ProvisionConfig;
}

/** A function or function override with its secret settings masked. */
export function maskFunction<T extends WithSettings>(definition: T): T {
  const { provision } = definition;
  const config = maskSettings(definition.config);
  const env = provision?.env && maskEach(provision.env, maskVariable);
  if (config === definition.config && env === provision?.env) return definition;
  return { ...definition, config, ...(provision === undefined || !env ? {} : { provision: { ...provision, env } }) };
}

function maskVariable(variable: EnvVar): EnvVar {
  const { name, value } = variable;
  return value !== undefined && isSecretValue(name, value) ? { ...variable, value: REDACTED } : variable;
}

/** A deployment with the secret settings of its functions and telemetry masked. */
export function maskDeployment<T extends ClassDeployment>(deployment: T): T {
  const functions = maskEach(deployment.functions, maskFunction);
  const { telemetry } = deployment;
  const attributes = telemetry && maskSettings(telemetry.resourceAttributes);
  if (functions === deployment.functions && attributes === telemetry?.resourceAttributes) return deployment;
  return {
    ...deployment,
    functions,
    ...(telemetry && attributes ? { telemetry: { ...telemetry, resourceAttributes: attributes } } : {}),
  };
}

/** A package with the secret settings of its functions and deployments masked. */
export function maskPackage(definition: Package): Package {
  const functions = maskEach(definition.functions, maskFunction);
  const deployments = maskEach(definition.deployments, maskDeployment);
  if (functions === definition.functions && deployments === definition.deployments) return definition;
  return { ...definition, functions, deployments };
}

/** A violation for each masked setting of a package: storing the mask would lose the secret. */
export function maskedInPackage({ functions, deployments }: Package): readonly Violation[] {
  return [
    ...maskedInFunctions(ROOT_PATH, functions),
    ...deployments.flatMap((each, index) => maskedInDeployment(each, pathOf(pathOf(ROOT_PATH, "deployments"), index))),
  ];
}

/** A violation for each masked setting of a deployment. */
export function maskedInDeployment(
  { functions, telemetry }: ClassDeployment,
  path: string = ROOT_PATH,
): readonly Violation[] {
  const attributes = telemetry?.resourceAttributes ?? {};
  return [
    ...maskedInFunctions(path, functions),
    ...maskedIn(pathOf(pathOf(path, "telemetry"), "resource_attributes"), attributes),
  ];
}

function maskedInFunctions(path: string, functions: readonly WithSettings[]): readonly Violation[] {
  return functions.flatMap(({ config, provision }, index) => {
    const at = pathOf(path, "functions", index);
    const masked = (provision?.env ?? []).flatMap(({ value }, variable) =>
      value === REDACTED ? [maskedViolation(pathOf(at, "provision_config", "env", variable, "value"))] : [],
    );
    return [...maskedIn(pathOf(at, "config"), config), ...masked];
  });
}

function maskedIn(path: string, settings: Settings): readonly Violation[] {
  return Object.entries(settings)
    .filter(([, value]) => value === REDACTED)
    .map(([key]) => maskedViolation(pathOf(path, key)));
}

function maskedViolation(path: string): Violation {
  return {
    path,
    message: `is masked: ${REDACTED} stands for a secret that the reader of the document was not allowed to see`,
    fix: "write the secret itself, or read the document with the role deployer or admin",
  };
}

function maskSettings(settings: Settings): Settings {
  const entries = Object.entries(settings);
  if (!entries.some(([key, value]) => isSecretValue(key, value))) return settings;
  return Object.fromEntries(entries.map(([key, value]) => [key, isSecretValue(key, value) ? REDACTED : value]));
}

function maskEach<T>(items: readonly T[], mask: (item: T) => T): readonly T[] {
  const masked = items.map(mask);
  return masked.every((item, index) => item === items[index]) ? items : masked;
}
