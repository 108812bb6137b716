import { EXIT, type ExitCode } from "../exit-code.ts";
import { confirmed } from "../session/confirm.ts";
import type { Session } from "../session/session.ts";
import { clusterView } from "../views.ts";

const viewFor = (session: Session) => clusterView({ now: session.world.clock.now(), colours: session.colours });

export async function listClusters(session: Session): Promise<void> {
  const { value } = await session.call("listClusters");
  session.list(value, viewFor(session));
}

/** One cluster's health, or that of all; ends with 1 when one of them is not healthy. */
export async function clusterHealth(session: Session, _flags: object, name?: string): Promise<ExitCode> {
  const readings =
    name === undefined
      ? (await session.call("listClusterHealth")).value
      : [(await session.call("getClusterHealth", { parameters: { name } })).value];
  session.list(
    readings.map((health) => ({ name: health.cluster_name, health })),
    viewFor(session),
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
  const labels = Object.fromEntries(
    (flags.label ?? []).map((each) => each.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
  const token = flags.tokenFile === undefined ? undefined : await session.world.files.read(flags.tokenFile);
  const tls =
    flags.caFile === undefined && !flags.insecure ? undefined : { ca_cert: flags.caFile, insecure: flags.insecure };
  const { value } = await session.call("addCluster", { body: { name, url, labels, api_key: token?.trim(), tls } });
  session.done({ kind: "cluster", name: value.name, result: `added, ${value.health.status}`, health: value.health });
}

export async function removeCluster(
  session: Session,
  flags: { readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  if (!(await confirmed(session, `Remove cluster ${name} from this platform`, flags.yes))) return EXIT.failed;
  await session.call("removeCluster", { parameters: { name } });
  session.done({ kind: "cluster", name, result: "removed" });
  return EXIT.done;
}
