import { startDeadline } from "@oaas/foundation";
import { readContexts } from "../contexts/contexts-store.ts";
import type { ProcessEnvironment } from "../process-environment.ts";
import { Session } from "../session/session.ts";
import type { KindName } from "./kinds.ts";

/** Longer than that, a shell seems to hang on Tab. */
const TIMEOUT_MS = 1500;
/** More names than a person reads. */
const query = { limit: 250 };

/** The names of the objects of a kind, for completion. Empty instead of an error or a message of any kind. */
export async function readNames(
  environment: ProcessEnvironment,
  kind: KindName,
  contextName: string | undefined,
): Promise<readonly string[]> {
  using deadline = startDeadline(environment, TIMEOUT_MS, environment.signal);
  const terminal = { ...environment.terminal, err: () => undefined };
  const silent = { ...environment, terminal, signal: deadline.signal };
  try {
    if (kind === "context") return [...(await readContexts(silent)).byName.keys()];
    const session = await Session.open(silent, contextName === undefined ? {} : { context: contextName });
    return await NAMES[kind](session);
  } catch {
    return [];
  }
}

const NAMES: Readonly<Record<Exclude<KindName, "context">, (session: Session) => Promise<readonly string[]>>> = {
  package: async (session) => (await session.call("listPackages", { query })).value.map(({ name }) => name),
  deployment: async (session) => (await session.call("listDeployments", { query })).value.map(({ key }) => key),
  // An event has the key of its object, mostly a deployment.
  event: async (session) => (await session.call("listDeployments", { query })).value.map(({ key }) => key),
  "class-runtime": async (session) => (await session.call("listClassRuntimes", { query })).value.map(({ id }) => id),
  cluster: async (session) => (await session.call("listClusters")).value.map(({ name }) => name),
  class: async (session) => (await session.call("listClasses", { query })).value.map(({ key }) => key),
  function: async (session) => (await session.call("listFunctions", { query })).value.map(({ key }) => key),
};
