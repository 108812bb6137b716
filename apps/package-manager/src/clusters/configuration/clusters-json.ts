import { clusterRegistrationInput, omitUndefined, readBy } from "@oaas/contracts/rest";
import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import type { ClusterRegistration } from "../../use-cases.ts";
import { checkRegistration } from "../registration-rules.ts";

type Checked<T> = Result<T, readonly Violation[]>;

/** Reads `CRM_CLUSTERS_JSON`: an object from name to settings, or a list of settings with names. Messages contain no values. */
export function clustersFromJson(value: unknown): Checked<readonly ClusterRegistration[]> {
  const entries = entriesOf(value);
  if (!entries.ok) return entries;
  const clusters: ClusterRegistration[] = [];
  const violations: Violation[] = [];
  const names = new Set<string>();
  for (const { path, settings } of entries.value) {
    const read = registrationFromJson(settings);
    if (!read.ok) {
      violations.push(...violationsUnder(path, read.error));
    } else if (names.has(read.value.name)) {
      violations.push({ path: pathOf(path, "name"), message: "is a duplicate cluster name", fix: "use another name" });
    } else {
      names.add(read.value.name);
      clusters.push(read.value);
    }
  }
  return violations.length > 0 ? err(violations) : ok(clusters);
}

/** The registration of a validated request. */
export function registrationOf(input: ReturnType<typeof clusterRegistrationInput.parse>): ClusterRegistration {
  const { name, url, labels, timeout, retry_attempts, api_key, api_key_file, tls, availability, cost } = input;
  const { default_namespace, allowed_namespaces } = input;
  return omitUndefined({
    name,
    url,
    labels,
    timeoutSeconds: timeout,
    retryAttempts: retry_attempts,
    token: api_key,
    tokenFile: api_key_file,
    tls:
      tls &&
      omitUndefined({
        caFile: tls.ca_cert,
        certificateFile: tls.client_cert,
        keyFile: tls.client_key,
        insecure: tls.insecure,
      }),
    availability: availability && {
      value: availability.value,
      source: availability.source,
      date: availability.date,
      weightHours: availability.weight_hours,
    },
    defaultNamespace: default_namespace,
    allowedNamespaces: allowed_namespaces.length === 0 ? undefined : [...new Set(allowed_namespaces)],
    cost: cost && { cpuHour: cost.cpu_hour, gibHour: cost.gib_hour, currency: cost.currency },
  });
}

const FIELDS: ReadonlySet<string> = new Set([
  "name",
  "url",
  "labels",
  "timeout",
  "retry_attempts",
  "api_key",
  "api_key_file",
  "tls",
  "availability",
  "cost",
  "default_namespace",
  "allowed_namespaces",
]);

function registrationFromJson(settings: unknown): Checked<ClusterRegistration> {
  if (!isObject(settings)) {
    return err([
      { path: ROOT_PATH, message: "is not an object", fix: "use an object with the settings of one cluster" },
    ]);
  }
  const unknown = Object.keys(settings).filter((key) => !FIELDS.has(key));
  const unknownFields = unknown.map((key) => ({
    path: pathOf(ROOT_PATH, key),
    message: "is unknown",
    fix: `use ${[...FIELDS].join(", ")}`,
  }));
  const read = readBy(clusterRegistrationInput, settings);
  if (!read.ok) return err([...unknownFields, ...read.error.map(redact)]);
  const registration = registrationOf(read.value);
  const violations = [...unknownFields, ...checkRegistration(registration)];
  return violations.length > 0 ? err(violations) : ok(registration);
}

/** The document may contain secrets, so a message that quotes a value is replaced. */
function redact(violation: Violation): Violation {
  return violation.message.includes('"') ? { ...violation, message: "is invalid" } : violation;
}

interface JsonEntry {
  readonly path: string;
  readonly settings: unknown;
}

function entriesOf(value: unknown): Checked<readonly JsonEntry[]> {
  if (Array.isArray(value)) {
    return ok(value.map((settings: unknown, index) => ({ path: pathOf(ROOT_PATH, index), settings })));
  }
  if (!isObject(value)) {
    return err([
      {
        path: ROOT_PATH,
        message: "is neither an object nor a list",
        fix: 'use {"name":{"url":"http://host:8088"}}',
      },
    ]);
  }
  return ok(
    Object.entries(value).map(([name, settings]) => ({
      path: pathOf(ROOT_PATH, name),
      settings: isObject(settings) ? { ...settings, name } : settings,
    })),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
