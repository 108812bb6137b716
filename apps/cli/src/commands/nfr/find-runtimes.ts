import type { Reply } from "@oaas/contracts/rest";
import { isFault } from "@oaas/foundation";
import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

export type Runtime = Reply<"listClassRuntimes">["value"][number];
export type EnforcementReport = Reply<"getEnforcement">["value"];

/** The class runtimes of a class (`shop.Order`), of a deployment, or with an id. Empty if there are none. */
export async function findRuntimes(session: Session, subject: string, cluster?: string): Promise<readonly Runtime[]> {
  const runtimes = await session.listAll("listClassRuntimes", { query: { cluster } });
  const named = runtimes.filter(({ id, class_key, package_name }) =>
    [id, class_key, `${package_name}.${class_key}`].includes(subject),
  );
  if (named.length > 0) return named;
  const units = await unitsOfDeployment(session, subject);
  return runtimes.filter(({ id }) => units.has(id));
}

/** The class runtimes of a subject; throws if there are none. */
export async function requireRuntimes(
  session: Session,
  subject: string,
  cluster?: string,
): Promise<readonly Runtime[]> {
  const found = await findRuntimes(session, subject, cluster);
  if (found.length > 0) return found;
  const where = cluster === undefined ? "" : ` in cluster ${cluster}`;
  throw new UsageError(
    `no class runtime of ${subject}${where}`,
    "name a class such as shop.Order, a deployment, or an id; list them with oaas runtime list",
  );
}

async function unitsOfDeployment(session: Session, key: string): Promise<ReadonlySet<string>> {
  try {
    const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
    return new Set(value.clusters.map(({ unit_id }) => unit_id));
  } catch (thrown) {
    if (isFault(thrown, "not-found") || isFault(thrown, "invalid-argument")) return new Set();
    throw thrown;
  }
}

/** The state of enforcement of a class runtime; undefined when its cluster has an older manager. */
export async function readEnforcement(session: Session, runtime: Runtime): Promise<EnforcementReport | undefined> {
  const { id, cluster_name: cluster } = runtime;
  try {
    const { value } = await session.call("getEnforcement", {
      parameters: { id },
      query: cluster === null ? {} : { cluster },
    });
    return value;
  } catch (thrown) {
    if (isFault(thrown, "unimplemented") || isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}
