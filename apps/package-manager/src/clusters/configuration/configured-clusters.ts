import { nameInVariable } from "@oaas/config";
import { omitUndefined } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { CLUSTER_NAME, type ClusterName } from "@oaas/models";
import type { ClusterRegistration } from "../../use-cases.ts";
import type { ClusterConfig } from "./cluster-variables.ts";
import { checkRegistration, hasSameAddress, type RegistrationNames } from "../registration-rules.ts";

/** The clusters of the configuration. */
export interface ConfiguredClusters {
  readonly clusters: readonly ClusterRegistration[];
  readonly defaultCluster?: ClusterName;
  /** Warnings for the log, such as settings without effect. */
  readonly warnings: readonly string[];
}

type Violations = readonly Violation[];

const variable = (name: string): string => pathOf(ROOT_PATH, name);

/**
 * Combines the four ways to configure clusters.
 *
 * CRM_CLUSTERS_JSON overrides CRM_CLUSTERS, which overrides CRM_DEFAULT_URL; overridden settings are reported as warnings.
 * OPRC_PM_CRM_<NAME>_ adds clusters. A cluster that is configured twice is a violation.
 */
export function clustersFrom(config: ClusterConfig): Result<ConfiguredClusters, Violations> {
  const main = mainForm(config);
  const added = addedForm(config);
  const clusters = [...main.clusters, ...added.clusters];
  const defaultCluster = config.defaultCluster ?? clusters.find(({ name }) => name === "default")?.name;
  const violations = [
    ...main.violations,
    ...added.violations,
    ...duplicates(main.clusters, added.clusters),
    ...unknownDefault(config, clusters),
  ];
  if (violations.length > 0) return err(violations);
  return ok(
    omitUndefined({
      clusters,
      defaultCluster: defaultCluster as ClusterName | undefined,
      warnings: [...unusedSettings(config), ...sharedAddresses(clusters)],
    }),
  );
}

/** The violations of the cluster settings, as a check of the configuration schema. */
export function checkClusters(config: ClusterConfig): Violations {
  const result = clustersFrom(config);
  return result.ok ? [] : result.error;
}

interface Form {
  readonly clusters: readonly ClusterRegistration[];
  readonly violations: Violations;
}

function mainForm(config: ClusterConfig): Form {
  if (config.clustersJson !== undefined) return { clusters: config.clustersJson, violations: [] };
  if (config.clusters !== undefined) return listedForm(config, config.clusters);
  if (config.defaultUrl === undefined) return { clusters: [], violations: [] };
  const registration: ClusterRegistration = omitUndefined({
    name: "default" as ClusterName,
    url: config.defaultUrl,
    labels: {},
    timeoutSeconds: secondsOf(config.defaultTimeoutMs),
    retryAttempts: config.defaultRetryAttempts,
  });
  return toForm(registration, "CRM_DEFAULT_");
}

function listedForm({ perCluster }: ClusterConfig, names: readonly string[]): Form {
  const violations: Violation[] = [];
  const clusters: ClusterRegistration[] = [];
  const taken = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const path = pathOf(variable("CRM_CLUSTERS"), index);
    const objection = CLUSTER_NAME.findProblem(name);
    const key = nameInVariable(name);
    const other = taken.get(key);
    taken.set(key, name);
    const settings = perCluster[key];
    const prefix = `CRM_CLUSTER_${key}_`;
    if (objection !== undefined) violations.push({ path, ...objection });
    else if (other !== undefined) {
      violations.push({ path, message: `${name} and ${other} use the same variables ${prefix}…`, fix: "rename one" });
    } else if (settings?.url === undefined) {
      violations.push({ path: variable(`${prefix}URL`), message: "is not set", fix: `set the URL of ${name}` });
    } else {
      const form = toForm(registrationFrom(name as ClusterName, settings, settings.url), prefix, { name: path });
      violations.push(...form.violations, ...tlsSwitch(settings.tlsEnabled, settings.url, prefix));
      clusters.push(...form.clusters);
    }
  }
  for (const key of Object.keys(perCluster).filter((one) => !taken.has(one))) {
    const fix = `add the cluster to CRM_CLUSTERS (${names.join(",")}), or remove its variables`;
    violations.push({
      path: variable(`CRM_CLUSTER_${key}_URL`),
      message: "does not belong to a cluster of CRM_CLUSTERS",
      fix,
    });
  }
  return { clusters, violations };
}

function registrationFrom(
  name: ClusterName,
  settings: ClusterConfig["perCluster"][string],
  url: string,
): ClusterRegistration {
  const tls = omitUndefined({
    caFile: settings.tlsCaFile,
    certificateFile: settings.tlsCertificateFile,
    keyFile: settings.tlsKeyFile,
    insecure: settings.tlsInsecure,
  });
  return omitUndefined({
    name,
    url,
    labels: settings.labels,
    timeoutSeconds: secondsOf(settings.timeoutMs),
    retryAttempts: settings.retryAttempts,
    token: settings.apiKey,
    tokenFile: settings.apiKeyFile,
    tls: tls.insecure || Object.keys(tls).length > 1 ? tls : undefined,
  });
}

function tlsSwitch(enabled: boolean | undefined, url: string, prefix: string): Violation[] {
  const secure = url.toLowerCase().startsWith("https:");
  if (enabled === undefined || enabled === secure) return [];
  const path = variable(`${prefix}TLS_ENABLED`);
  return enabled
    ? [{ path, message: "is true, but the URL starts with http://", fix: `use https:// in ${prefix}URL` }]
    : [{ path, message: "is false, but the URL starts with https://", fix: `use http:// in ${prefix}URL` }];
}

function addedForm({ pmCrm }: ClusterConfig): Form {
  const violations: Violation[] = [];
  const clusters: ClusterRegistration[] = [];
  for (const [key, { url, token, tokenFile }] of Object.entries(pmCrm)) {
    const prefix = `OPRC_PM_CRM_${key}_`;
    const name = key.toLowerCase().replaceAll("_", "-");
    const objection = CLUSTER_NAME.findProblem(name);
    if (url === undefined) {
      violations.push({ path: variable(`${prefix}URL`), message: "is not set", fix: `set the URL of ${name}` });
    } else if (objection !== undefined) violations.push({ path: variable(`${prefix}URL`), ...objection });
    else {
      const base = { name: name as ClusterName, url, labels: {}, retryAttempts: 3, token, tokenFile };
      const form = toForm(omitUndefined(base), prefix, { token: variable(`${prefix}TOKEN`) });
      violations.push(...form.violations);
      clusters.push(...form.clusters);
    }
  }
  return { clusters, violations };
}

/** A cluster with its violations, located by the prefix of its variables; `names` overrides single locations. */
function toForm(cluster: ClusterRegistration, prefix: string, names: Partial<RegistrationNames> = {}): Form {
  const violations = checkRegistration(cluster, {
    name: variable(`${prefix}URL`),
    url: variable(`${prefix}URL`),
    token: variable(`${prefix}API_KEY`),
    tls: variable(`${prefix}TLS_CA_CERT_PATH`),
    ...names,
  });
  return { clusters: [cluster], violations };
}

function duplicates(main: readonly ClusterRegistration[], added: readonly ClusterRegistration[]): Violation[] {
  return added
    .filter(({ name }) => main.some((one) => one.name === name))
    .map(({ name }) => ({
      path: variable(`OPRC_PM_CRM_${nameInVariable(name)}_URL`),
      message: `cluster ${name} is configured twice`,
      fix: "configure each cluster once",
    }));
}

function unknownDefault({ defaultCluster }: ClusterConfig, clusters: readonly ClusterRegistration[]): Violation[] {
  if (defaultCluster === undefined || clusters.some(({ name }) => name === defaultCluster)) return [];
  const known = clusters.map(({ name }) => name).join(", ");
  const fix = known === "" ? "configure that cluster" : `use one of ${known}`;
  return [{ path: variable("CRM_DEFAULT_CLUSTER"), message: `${defaultCluster} is not a configured cluster`, fix }];
}

function unusedSettings({ clustersJson, clusters, defaultUrl, perCluster }: ClusterConfig): string[] {
  const winner = clustersJson !== undefined ? "CRM_CLUSTERS_JSON" : clusters !== undefined ? "CRM_CLUSTERS" : undefined;
  const unused = [
    clusters !== undefined && winner !== "CRM_CLUSTERS" && "CRM_CLUSTERS",
    Object.keys(perCluster).length > 0 && winner !== "CRM_CLUSTERS" && "CRM_CLUSTER_<NAME>_…",
    defaultUrl !== undefined && winner !== undefined && "CRM_DEFAULT_URL",
  ].filter((name) => name !== false);
  return unused.map(
    (name) => `${name} has no effect ${winner === undefined ? "without CRM_CLUSTERS" : `because ${winner} is set`}`,
  );
}

/** A warning only, because earlier releases accepted it. */
function sharedAddresses(clusters: readonly ClusterRegistration[]): string[] {
  return clusters.flatMap((cluster, index) => {
    const twin = clusters.slice(0, index).find((each) => hasSameAddress(each, cluster));
    if (twin === undefined) return [];
    return [`clusters ${twin.name} and ${cluster.name} have the same address and count as two clusters; remove one`];
  });
}

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined || ms === 0 ? undefined : ms / 1000;
}
