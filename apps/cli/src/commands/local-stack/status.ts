import { pascalCase } from "@oaas/contracts/health";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { stateText } from "../../output/colours.ts";
import { percentText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";
import { dataFolder, findStack, type StackCluster, type StackHealth } from "./running-stack.ts";
import { printStackLogs, type StackLogsFlags } from "./logs.ts";

interface Component {
  readonly name: string;
  readonly state: string;
  readonly where: string;
  readonly detail: string;
}

/**
 * Shows the components and deployments of the local stack. Exits with 1 if a component is not running, or a deployment
 * is Degraded, Down or Unknown; with 3 if no stack is running.
 */
export async function stackStatus(
  session: Session,
  flags: { readonly data?: string } & StackLogsFlags,
): Promise<ExitCode> {
  const dataDir = dataFolder(flags, session.environment);
  if (flags.logs !== undefined || flags.follow) {
    await printStackLogs(session, dataDir, flags);
    return EXIT.done;
  }
  const stack = await findStack(session.environment, dataDir);
  const health = await stack?.health();
  if (stack === undefined || health === undefined) {
    const { isAlive } = await import("../../adapters/local-stack.ts");
    session.print(notRunningText(dataDir, stack?.record.pid, stack !== undefined && isAlive(stack.record.pid)));
    return EXIT.notFound;
  }
  printStack(session, dataDir, health);
  return stackVerdict(health).word === "Healthy" ? EXIT.done : EXIT.failed;
}

/** The health of the stack in one word, and the deployments that are the reason. */
export function stackVerdict({ status, package_manager: pm }: Pick<StackHealth, "status" | "package_manager">): {
  readonly word: string;
  readonly causes: string;
} {
  const ailing = pm.deployments.filter(({ condition }) => AILING.has(condition));
  const causes = ailing.map(({ key, condition }) => `deployment ${key} is ${condition}, `).join("");
  if (status !== "healthy") return { word: pascalCase(status), causes };
  if (ailing.length === 0) return { word: "Healthy", causes };
  return { word: ailing.some(({ condition }) => condition === "Down") ? "Unhealthy" : "Degraded", causes };
}

/** Conditions that need attention. */
const AILING: ReadonlySet<string> = new Set(["Degraded", "Down", "Unknown"]);

function notRunningText(dataDir: string, pid: number | undefined, isAlive: boolean): string {
  const lead = `No local stack is running with data folder ${dataDir}.`;
  if (pid === undefined) return `${lead} Start one: oaas up\n`;
  return isAlive
    ? `${lead} Process ${pid} is recorded there but does not respond: it is starting, hangs, or is another program.\n`
    : `${lead} The last one (process ${pid}) was killed; its data is intact. Start it again: oaas up\n`;
}

/** Prints the health of a stack in the requested format. */
export function printStack(session: Session, dataDir: string, health: StackHealth): void {
  const verdict = stackVerdict(health);
  if (!session.isHumanOutput) {
    session.printItem({ ...health, health: verdict.word }, { kind: "stack", nameOf: () => dataDir, columns: [] });
    return;
  }
  const { process, version } = health;
  const { colours } = session;
  session.printList(listComponents(health), {
    kind: "component",
    nameOf: ({ name }) => name,
    columns: [
      { header: "COMPONENT", cell: ({ name }) => name },
      { header: "STATE", cell: ({ state }) => stateText(state, colours) },
      { header: "ADDRESS", cell: ({ where }) => where },
      { header: "DETAILS", cell: ({ detail }) => detail },
    ],
  });
  const memory = Math.round(process.rss_bytes / 2 ** 20);
  const share = process.up_ms === 0 ? 0 : (process.cpu_ms / process.up_ms) * 100;
  session.print(
    `\n${stateText(verdict.word, colours)}: ${verdict.causes}version ${version}, process ${process.pid}, up ${Math.round(process.up_ms / 1000)} s, ${memory} MB, ${share.toFixed(1)} % of a core since start, data in ${dataDir}\n`,
  );
}

function listComponents({ package_manager: pm, clusters, storage }: StackHealth): readonly Component[] {
  return [
    {
      name: "store",
      state: storage.status === "ok" ? "Running" : "Failed",
      where: "",
      detail: storage.message ?? `revision ${storage.revision ?? 0}`,
    },
    { name: "package manager", state: pascalCase(pm.state), where: pm.url ?? "", detail: pm.detail ?? "" },
    ...pm.deployments.map(({ key, condition, clusters: units }) => ({
      name: `deployment ${key}`,
      state: condition,
      where: "",
      detail: units.map(({ name, condition: of }) => `${name} ${of}`).join(", "),
    })),
    ...clusters.flatMap(clusterComponents),
  ];
}

function clusterComponents(cluster: StackCluster): readonly Component[] {
  const { name, state, apiUrl, managerUrl, detail, broken, classes } = cluster;
  return [
    {
      name: `cluster ${name}`,
      state: pascalCase(state),
      where: apiUrl ?? "",
      detail: detail ?? clusterDetails(cluster),
    },
    {
      name: "  manager",
      state: managerUrl === undefined ? (state === "starting" ? "Starting" : "Failed") : "Running",
      where: managerUrl ?? "",
      detail: broken ?? "",
    },
    ...classes.map((one) => ({
      name: `  ${one.name}`,
      state: one.condition ?? one.phase,
      where: "",
      detail: classDetails(one),
    })),
  ];
}

function classDetails({ message, lastChange }: StackCluster["classes"][number]): string {
  return [message, lastChange && `Enforcement: ${lastChange}.`].filter(Boolean).join(" ");
}

function clusterDetails({ labels, nodes, availability }: StackCluster): string {
  return [
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    ...(nodes === 0 ? [] : [`${nodes} ${nodes === 1 ? "node" : "nodes"}`]),
    ...(availability === undefined ? [] : [`availability ${percentText(availability)}`]),
  ].join(", ");
}
