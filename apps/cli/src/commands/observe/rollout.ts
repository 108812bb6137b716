import { sleep } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import type { ExitCode } from "../../exit-code.ts";
import { stateText } from "../../output/colours.ts";
import { readyText, upToDateText } from "../../output/replicas-text.ts";
import { truncateLine, tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";

export type DeploymentState = Reply<"getDeploymentStatus">["value"];

const POLL_MS = 500;

/** Shows a deployment as it changes until `endOf` returns an exit code. */
export async function watchDeployment(
  session: Session,
  key: string,
  endOf: (state: DeploymentState) => ExitCode | undefined | Promise<ExitCode | undefined>,
): Promise<{ readonly code: ExitCode; readonly state: DeploymentState }> {
  const { environment } = session;
  const screen = new LiveTable(session);
  for (;;) {
    const { value: state } = await session.call("getDeploymentStatus", { parameters: { key } });
    screen.show(state);
    const code = await endOf(state);
    if (code !== undefined) return { code, state };
    await sleep(environment.timers, POLL_MS, environment.signal);
  }
}

/** Redraws the table in place on a terminal; elsewhere prints each state once. */
class LiveTable {
  readonly #session: Session;
  #lines = 0;
  #last = "";

  constructor(session: Session) {
    this.#session = session;
  }

  show(state: DeploymentState): void {
    const { terminal } = this.#session.environment;
    if (!this.#session.isHumanOutput) return;
    const text = progressText(state, this.#session);
    if (text === this.#last) return;
    this.#last = text;
    if (terminal.isInteractive) {
      // A wrapped line would take two rows, and the next redraw would start at the wrong row.
      const lines = text.split("\n").map((line) => truncateLine(line, terminal.columns));
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
      { header: "READY", cell: ({ functions }) => readyText(functions) },
      { header: "UP-TO-DATE", cell: ({ functions }) => upToDateText(functions) },
      { header: "MESSAGE", cell: ({ message, error }) => error ?? message ?? "" },
    ])
  );
}
