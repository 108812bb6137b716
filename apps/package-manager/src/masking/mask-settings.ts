import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ClassDeployment, Package } from "@oaas/models";
import { isSecretValue, REDACTED } from "@oaas/observability/secrets";

/*
 * Settings are the environment variables of functions and the attributes of telemetry. Each function returns its argument
 * itself when it contains no secret.
 */

type Settings = Readonly<Record<string, string>>;

/** A function or function override with its secret settings masked. */
export function maskFunction<T extends { readonly config: Settings }>(definition: T): T {
  const config = maskSettings(definition.config);
  return config === definition.config ? definition : { ...definition, config };
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

function maskedInFunctions(path: string, functions: readonly { readonly config: Settings }[]): readonly Violation[] {
  return functions.flatMap(({ config }, index) =>
    maskedIn(pathOf(pathOf(pathOf(path, "functions"), index), "config"), config),
  );
}

function maskedIn(path: string, settings: Settings): readonly Violation[] {
  return Object.entries(settings)
    .filter(([, value]) => value === REDACTED)
    .map(([key]) => ({
      path: pathOf(path, key),
      message: `is masked: ${REDACTED} stands for a secret that the reader of the document was not allowed to see`,
      fix: "write the secret itself, or read the document with the role deployer or admin",
    }));
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
