import { Fault } from "@oaas/foundation";
import { contextsPath } from "../../contexts/contexts-store.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { checkStateStore, type RunCheck } from "./check-state-store.ts";

interface CheckResult {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
}

interface DoctorFlags {
  readonly stateStore?: string;
  readonly collection?: string;
  readonly partition?: number;
}

/** Checks each hop from the configuration to the clusters, in order; or a node of a state store. */
export async function doctor(session: Session, flags: DoctorFlags): Promise<ExitCode> {
  const { stateStore, ...target } = flags;
  if (stateStore === undefined && (flags.collection ?? flags.partition) !== undefined) {
    throw new UsageError("--collection and --partition need a state store", "add --state-store ADDRESS");
  }
  const results: CheckResult[] = [];
  const check: RunCheck = async (name, find) => {
    const result = await find().then(
      (message) => ({ check: name, ok: true, message }),
      (thrown: unknown) => ({
        check: name,
        ok: false,
        message: thrown instanceof Error ? thrown.message : Fault.from(thrown).message,
      }),
    );
    results.push(result);
    return result.ok;
  };
  await (stateStore === undefined
    ? checkPlatform(session, check)
    : checkStateStore(session, { address: stateStore, ...target }, check));
  session.printList(results, {
    kind: "check",
    nameOf: ({ check: name }) => name,
    columns: [
      { header: "CHECK", cell: ({ check: name }) => name },
      { header: "RESULT", cell: ({ ok }) => (ok ? session.colours.good("ok") : session.colours.bad("failed")) },
      { header: "DETAILS", cell: ({ message }) => message },
    ],
  });
  return results.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}

async function checkPlatform(session: Session, check: RunCheck): Promise<void> {
  const hasContext = await check("context", async () => {
    const { name, pmUrl, token } = await session.context();
    return `${name}: ${pmUrl}, ${token === undefined ? "no token" : "with token"} (${contextsPath(session.environment)})`;
  });
  const isReachable = hasContext && (await check("package manager", async () => checkHealth(session)));
  if (isReachable && (await check("access", () => checkAccess(session))))
    await check("clusters", () => checkClusters(session));
}

async function checkHealth(session: Session): Promise<string> {
  const { value } = await session.call("getHealth");
  if (value.status !== "healthy") throw new Error(`storage: ${value.storage.message ?? value.storage.status}`);
  const warnings = (value.warnings ?? []).map((warning) => `; ${warning}`).join("");
  return `version ${value.version}, healthy${warnings}`;
}

async function checkAccess(session: Session): Promise<string> {
  const { totalCount, value } = await session.call("listPackages", { query: { limit: 1 } });
  return `can read packages (${totalCount ?? value.length})`;
}

async function checkClusters(session: Session): Promise<string> {
  const { value } = await session.call("listClusters");
  if (value.length === 0) throw new Error("no clusters; add one: oaas cluster add NAME URL");
  const unhealthy = value.filter(({ health }) => health.status !== "Healthy");
  const describe = ({ status, error }: (typeof value)[number]["health"]) =>
    error === undefined ? status : `${status} (${error})`;
  if (unhealthy.length > 0)
    throw new Error(unhealthy.map(({ name, health }) => `${name} is ${describe(health)}`).join(", "));
  return `${value.length}, all healthy`;
}
