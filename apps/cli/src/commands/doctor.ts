import { Fault } from "@oaas/foundation";
import { contextsFile } from "../contexts/contexts-store.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Session } from "../session/session.ts";

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
}

/** Checks each hop from the configuration to the clusters, in order. */
export async function doctor(session: Session): Promise<ExitCode> {
  const findings: Finding[] = [];
  const look = async (check: string, find: () => Promise<string>): Promise<boolean> => {
    try {
      findings.push({ check, ok: true, message: await find() });
      return true;
    } catch (thrown) {
      findings.push({
        check,
        ok: false,
        message: thrown instanceof Error ? thrown.message : Fault.from(thrown).message,
      });
      return false;
    }
  };
  const isKnown = await look("context", async () => {
    const { name, pmUrl, token } = await session.context();
    return `${name}: ${pmUrl}, ${token === undefined ? "no token" : "with token"} (${contextsFile(session.world)})`;
  });
  const isThere = isKnown && (await look("package manager", async () => healthOf(session)));
  if (isThere && (await look("access", () => accessOf(session)))) await look("clusters", () => clustersOf(session));
  session.list(findings, {
    kind: "check",
    nameOf: ({ check }) => check,
    columns: [
      { header: "CHECK", cell: ({ check }) => check },
      { header: "RESULT", cell: ({ ok }) => (ok ? session.colours.good("ok") : session.colours.bad("failed")) },
      { header: "DETAILS", cell: ({ message }) => message },
    ],
  });
  return findings.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}

async function healthOf(session: Session): Promise<string> {
  const { value } = await session.call("getHealth");
  if (value.status !== "healthy") throw new Error(`storage: ${value.storage.message ?? value.storage.status}`);
  const warnings = (value.warnings ?? []).map((warning) => `; ${warning}`).join("");
  return `version ${value.version}, healthy${warnings}`;
}

async function accessOf(session: Session): Promise<string> {
  const { totalCount, value } = await session.call("listPackages", { query: { limit: 1 } });
  return `can read packages (${totalCount ?? value.length})`;
}

async function clustersOf(session: Session): Promise<string> {
  const { value } = await session.call("listClusters");
  if (value.length === 0) throw new Error("no clusters; add one: oaas cluster add NAME URL");
  const ill = value.filter(({ health }) => health.status !== "Healthy");
  const whatOf = ({ status, error }: (typeof value)[number]["health"]) =>
    error === undefined ? status : `${status} (${error})`;
  if (ill.length > 0) throw new Error(ill.map(({ name, health }) => `${name} is ${whatOf(health)}`).join(", "));
  return `${value.length}, all healthy`;
}
