import { urlOf } from "../contexts/context.ts";
import { EXIT, UsageError, type ExitCode } from "../exit-code.ts";
import { confirmed } from "../session/confirm.ts";
import type { Session } from "../session/session.ts";
import { ailingClusterView, clusterView } from "../views.ts";

const lookOf = ({ world, colours }: Session) => ({ now: world.clock.now(), colours });

export async function listClusters(session: Session): Promise<void> {
  const { value } = await session.call("listClusters");
  session.list(value, clusterView(lookOf(session)));
}

/** Shows the health of one or all clusters; exits with 1 if one is not healthy. */
export async function clusterHealth(session: Session, _flags: object, name?: string): Promise<ExitCode> {
  const readings =
    name === undefined
      ? (await session.call("listClusterHealth")).value
      : [(await session.call("getClusterHealth", { parameters: { name } })).value];
  const look = lookOf(session);
  session.list(
    readings.map((health) => ({ name: health.cluster_name, health })),
    readings.some(({ error }) => error !== undefined) ? ailingClusterView(look) : clusterView(look),
  );
  return readings.every(({ status }) => status === "Healthy") ? EXIT.done : EXIT.failed;
}

export async function addCluster(
  session: Session,
  flags: {
    readonly label?: readonly string[];
    readonly tokenFile?: string;
    readonly caFile?: string;
    readonly insecure: boolean;
  },
  name: string,
  url: string,
): Promise<void> {
  const tls =
    flags.caFile === undefined && !flags.insecure ? undefined : { ca_cert: flags.caFile, insecure: flags.insecure };
  const body = {
    name,
    url: urlOf(url, "url"),
    labels: labelsOf(flags.label ?? []),
    api_key: await tokenIn(session, flags.tokenFile),
    tls,
  };
  const { value } = await session.call("addCluster", { body });
  session.done({ kind: "cluster", name: value.name, result: `added, ${value.health.status}`, health: value.health });
}

function labelsOf(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((each) => {
      const { key, value } = /^(?<key>[^=]+)=(?<value>.*)$/s.exec(each)?.groups ?? {};
      if (key === undefined || value === undefined)
        throw new UsageError(`--label: "${each}" has no value`, "use key=value, such as --label zone=a");
      return [key, value];
    }),
  );
}

async function tokenIn(session: Session, file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await session.world.files.read(file);
  if (text === undefined) throw new UsageError(`--token-file: file ${file} does not exist`, "check the path");
  return text.trim();
}

export async function removeCluster(
  session: Session,
  flags: { readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  if (!(await confirmed(session, `Remove cluster ${name}`, flags.yes))) return EXIT.failed;
  await session.call("removeCluster", { parameters: { name } });
  session.done({ kind: "cluster", name, result: "removed" });
  return EXIT.done;
}
