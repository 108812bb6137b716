import type { Session } from "./session.ts";

const LIMIT = { query: { limit: 250 } };

/** The names of existing objects of a resource, at most one page; empty for other resources and without an answer. */
export async function listNames(session: Session, resource: string): Promise<readonly string[]> {
  try {
    if (resource === "deployment") return (await session.call("listDeployments", LIMIT)).value.map(({ key }) => key);
    if (resource === "package") return (await session.call("listPackages", LIMIT)).value.map(({ name }) => name);
    if (resource === "cluster") return (await session.call("listClusters")).value.map(({ name }) => name);
  } catch {
    // A suggestion is not worth a second error.
  }
  return [];
}
