import { sleep } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { stateText } from "../output/colours.ts";
import { cutText, tableText } from "../output/table.ts";
import type { Session } from "./session.ts";

export type DeploymentState = Reply<"getDeploymentStatus">["value"];
type ClusterState = DeploymentState["clusters"][number];

const LOOK_MS = 500;

export interface Wanted {
  readonly holds: (state: DeploymentState) => boolean;
  readonly what: string;
  readonly timeoutMs: number;
}

/**
 * Follows a deployment until a condition holds: a live table on a terminal, a new table per change elsewhere, the last state
 * for machine-readable formats. On timeout the exit code is `unreachable`, because the condition may still be reached.
 */
export async function followDeployment(session: Session, key: string, wanted: Wanted): Promise<ExitCode> {
  const { clock } = session.world;
  const endsAt = clock.monotonic() + wanted.timeoutMs;
  const ended = await watchDeployment(session, key, (state) => {
    if (wanted.holds(state)) return EXIT.done;
    const { operation } = state;
    if (operation?.state === "failed" || operation?.state === "compensated") {
      tell(session, key, session.colours.bad("error:"), operation.message ?? `the operation ${operation.state}`);
      return EXIT.failed;
    }
    if (clock.monotonic() < endsAt) return undefined;
    const seconds = Math.round(wanted.timeoutMs / 1000);
    tell(session, key, session.colours.warn("timeout:"), `${key} is not ${wanted.what} after ${seconds} s`);
    return EXIT.unreachable;
  });
  if (!session.isForPeople)
    session.item(ended.state, { kind: "deployment", nameOf: (state) => state.key, columns: [] });
  return ended.code;
}

/** Shows a deployment as it changes until `endOf` returns an exit code. */
export async function watchDeployment(
  session: Session,
  key: string,
  endOf: (state: DeploymentState) => ExitCode | undefined,
): Promise<{ readonly code: ExitCode; readonly state: DeploymentState }> {
  const { world } = session;
  const screen = new Screen(session);
  for (;;) {
    const { value: state } = await session.call("getDeploymentStatus", { parameters: { key } });
    screen.show(state);
    const code = endOf(state);
    if (code !== undefined) return { code, state };
    await sleep(world.timers, LOOK_MS, world.signal);
  }
}

function tell({ world, colours }: Session, key: string, head: string, what: string): void {
  world.terminal.err(`${head} ${what}\n${colours.dim(`  try: oaas deployment explain ${key}`)}\n`);
}

/** Redraws the table in place on a terminal; elsewhere prints each state once. */
class Screen {
  readonly #session: Session;
  #lines = 0;
  #last = "";

  constructor(session: Session) {
    this.#session = session;
  }

  show(state: DeploymentState): void {
    const { terminal } = this.#session.world;
    if (!this.#session.isForPeople) return;
    const text = progressText(state, this.#session);
    if (text === this.#last) return;
    this.#last = text;
    if (terminal.isLive) {
      // A wrapped line would take two rows, and the next redraw would start at the wrong row.
      const lines = text.split("\n").map((line) => cutText(line, terminal.columns));
      // Move the cursor to the first line of the last table and clear it.
      const back = this.#lines > 0 ? `\u001b[${this.#lines}A\u001b[J` : "";
      terminal.err(back + lines.join("\n"));
      this.#lines = lines.length - 1;
    } else terminal.err(text);
  }
}

function progressText(state: DeploymentState, { colours }: Session): string {
  const { operation } = state;
  const steps = operation?.state === "running" ? `, ${operation.done} of ${operation.total} steps` : "";
  const head = `${colours.bold(state.key)}: ${stateText(state.condition, colours)}${steps}\n`;
  return (
    head +
    tableText(state.clusters, [
      { header: "  CLUSTER", cell: ({ cluster }) => `  ${cluster}` },
      { header: "STATE", cell: (each) => stateText(each.reachable ? each.condition : "Unreachable", colours) },
      { header: "READY", cell: readyText },
      { header: "MESSAGE", cell: ({ message, error }) => error ?? message ?? "" },
    ])
  );
}

/** The number of ready functions and of all functions, as `1/2`. */
export function readyText({ functions }: ClusterState): string {
  return `${functions.filter(({ ready }) => ready === true).length}/${functions.length}`;
}
