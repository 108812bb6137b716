import { parseUrl } from "../../contexts/context.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { confirm, type Session } from "../../session/session.ts";
import { clusterErrorView, clusterView } from "../../output/views.ts";

const tableContext = ({ environment, colours }: Session) => ({ now: environment.clock.now(), colours });

export async function listClusters(session: Session): Promise<void> {
  const { value } = await session.call("listClusters");
  session.printList(value, clusterView(tableContext(session)));
}

/** Shows the health of one or all clusters; exits with 1 if one is not healthy. */
export async function clusterHealth(session: Session, _flags: object, name?: string): Promise<ExitCode> {
  const readings =
    name === undefined
      ? (await session.call("listClusterHealth")).value
      : [(await session.call("getClusterHealth", { parameters: { name } })).value];
  const look = tableContext(session);
  session.printList(
    readings.map((health) => ({ name: health.cluster_name, health })),
    readings.some(({ error }) => error !== undefined) ? clusterErrorView(look) : clusterView(look),
  );
  return readings.every(({ status }) => status === "Healthy") ? EXIT.done : EXIT.failed;
}

export interface AddClusterFlags {
  readonly label?: readonly string[];
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly insecure: boolean;
  readonly availability?: number;
  readonly availabilitySource?: string;
  readonly availabilityDate?: string;
  readonly availabilityWeight?: number;
  readonly cpuHour?: number;
  readonly gibHour?: number;
  readonly currency?: string;
  readonly namespace?: string;
  readonly allowNamespace?: readonly string[];
}

export async function addCluster(session: Session, flags: AddClusterFlags, name: string, url: string): Promise<void> {
  const tls =
    flags.caFile === undefined && !flags.insecure ? undefined : { ca_cert: flags.caFile, insecure: flags.insecure };
  const body = {
    name,
    url: parseUrl(url, "url"),
    labels: parseLabels(flags.label ?? []),
    api_key: await readTokenFile(session, flags.tokenFile),
    tls,
    default_namespace: flags.namespace,
    allowed_namespaces: flags.allowNamespace,
    ...termsOf(flags),
  };
  const { value } = await session.call("addCluster", { body });
  session.printOutcome({
    kind: "cluster",
    name: value.name,
    result: `added, ${value.health.status}`,
    health: value.health,
  });
}

/** The promise and the prices. The package manager names what is missing of them. */
function termsOf(flags: AddClusterFlags) {
  const availability = {
    value: flags.availability,
    source: flags.availabilitySource,
    date: flags.availabilityDate,
    weight_hours: flags.availabilityWeight,
  };
  const cost = { cpu_hour: flags.cpuHour, gib_hour: flags.gibHour, currency: flags.currency };
  const isStated = (terms: object): boolean => Object.values(terms).some((each) => each !== undefined);
  return { ...(isStated(availability) ? { availability } : {}), ...(isStated(cost) ? { cost } : {}) };
}

function parseLabels(labels: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    labels.map((each) => {
      const { key, value } = /^(?<key>[^=]+)=(?<value>.*)$/s.exec(each)?.groups ?? {};
      if (key === undefined || value === undefined)
        throw new UsageError(`--label: "${each}" has no value`, "use key=value, such as --label zone=a");
      return [key, value];
    }),
  );
}

async function readTokenFile(session: Session, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await session.environment.files.read(file);
  if (text === undefined) throw new UsageError(`--token-file: file ${file} does not exist`, "check the path");
  return text.trim();
}

export async function cordonCluster(
  session: Session,
  flags: { readonly reason?: string },
  name: string,
): Promise<void> {
  await session.call("cordonCluster", { parameters: { name }, body: { reason: flags.reason } });
  session.printOutcome({ kind: "cluster", name, result: "cordoned" });
}

export async function uncordonCluster(session: Session, _flags: object, name: string): Promise<void> {
  await session.call("uncordonCluster", { parameters: { name } });
  session.printOutcome({ kind: "cluster", name, result: "uncordoned" });
}

export async function removeCluster(
  session: Session,
  flags: { readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  if (!(await confirm(session, `Remove cluster ${name}`, flags.yes))) return EXIT.failed;
  await session.call("removeCluster", { parameters: { name } });
  session.printOutcome({ kind: "cluster", name, result: "removed" });
  return EXIT.done;
}
