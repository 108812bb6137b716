import { sleep } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { stateText } from "../output/colours.ts";
import { tableText } from "../output/table.ts";
import type { Session } from "./session.ts";

export type DeploymentState = Reply<"getDeploymentStatus">["value"];
type ClusterState = DeploymentState["clusters"][number];

const LOOK_MS = 500;

/**
 * Follows a deployment until a condition holds, with a live table on a terminal and one line per change elsewhere.
 * Ends with the exit code of an unreachable platform when time is up: it may still come.
 */
export async function followDeployment(
  session: Session,
  key: string,
  wanted: { readonly holds: (state: DeploymentState) => boolean; readonly what: string; readonly timeoutMs: number },
): Promise<ExitCode> {
  const { world } = session;
  const screen = new Screen(session);
  const endsAt = world.clock.monotonic() + wanted.timeoutMs;
  for (;;) {
    const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
    screen.show(value);
    if (wanted.holds(value)) return EXIT.done;
    if (value.operation?.state === "failed" || value.operation?.state === "compensated") {
      world.terminal.err(
        `${session.colours.bad("error:")} ${value.operation.message ?? `the deployment ${value.operation.state}`}\n`,
      );
      world.terminal.err(session.colours.dim(`  try: oaas deployment explain ${key}\n`));
      return EXIT.failed;
    }
    if (world.clock.monotonic() >= endsAt) {
      world.terminal.err(
        `${session.colours.warn("not yet:")} ${key} is not ${wanted.what} after ${Math.round(wanted.timeoutMs / 1000)} s\n`,
      );
      world.terminal.err(session.colours.dim(`  try: oaas deployment explain ${key}\n`));
      return EXIT.unreachable;
    }
    await sleep(world.timers, LOOK_MS, world.signal);
  }
}

/** Draws over itself on a terminal; elsewhere says each state once. */
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
      // Back to the first line of the last picture, and away with it.
      terminal.err(this.#lines > 0 ? `\u001b[${this.#lines}A\u001b[J${text}` : text);
      this.#lines = text.split("\n").length - 1;
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

/** How many functions are ready, of how many. */
export function readyText({ functions }: ClusterState): string {
  return `${functions.filter(({ ready }) => ready === true).length}/${functions.length}`;
}
