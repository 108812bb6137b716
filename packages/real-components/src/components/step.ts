import { readFile } from "node:fs/promises";
import { startProcess } from "../process/running-process.ts";
import { warden } from "../process/warden.ts";
import { explainFailure } from "./not-obtained.ts";

/** Where a recipe works, and whom it tells. */
export interface Workshop {
  /** An empty folder that becomes the component when the recipe is done. */
  readonly folder: string;
  /** The cache, for what recipes share. */
  readonly cache: string;
  readonly logFile: string;
  /** Told what is going on, in a few words. */
  readonly tell: (text: string) => void;
}

/** One command of a recipe. */
export interface Step {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Turns the output so far into a hint of progress. */
  readonly hint?: (output: string) => string;
}

const HINT_MS = 2_000;

/**
 * Runs one command of a recipe to its end and returns its output.
 *
 * Guarantees: it dies with this process; a failure is explained with a remedy.
 */
export async function runStep(workshop: Workshop, step: Step): Promise<string> {
  workshop.tell(step.title);
  const before = await outputOf(workshop);
  const running = await startProcess({
    name: step.title,
    command: step.command,
    args: step.args,
    cwd: step.cwd,
    env: { ...hostEnv(), ...step.env },
    logFile: workshop.logFile,
  });
  const ticker = setInterval(() => {
    void outputOf(workshop).then((output) => {
      if (step.hint) workshop.tell(`${step.title}, ${step.hint(output.slice(before.length))}`);
    });
  }, HINT_MS);
  try {
    const exit = await warden().hold(running.exited);
    const output = (await outputOf(workshop)).slice(before.length);
    if (exit.code !== 0) throw explainFailure(step.title, output, workshop.logFile);
    return output;
  } finally {
    clearInterval(ticker);
  }
}

async function outputOf(workshop: Workshop): Promise<string> {
  return readFile(workshop.logFile, "utf8").catch(() => "");
}

function hostEnv(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
