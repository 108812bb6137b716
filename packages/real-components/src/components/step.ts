import { readFile } from "node:fs/promises";
import { startProcess } from "../process/running-process.ts";
import { warden } from "../process/warden/warden.ts";
import { explainFailure } from "./obtain-error.ts";

/** The folders and the progress callback of a recipe. */
export interface RecipeContext {
  /** An empty folder that becomes the component. */
  readonly folder: string;
  /** The cache shared by recipes. */
  readonly cache: string;
  readonly logFile: string;
  /** Receives the progress. */
  readonly onProgress: (text: string) => void;
}

/** One command of a recipe. */
export interface Step {
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Derives the progress from the output so far. */
  readonly hint?: (output: string) => string;
}

const HINT_MS = 2_000;

/**
 * Runs one command of a recipe and returns its output.
 *
 * Guarantees: the command ends with this process; a failure is reported with a fix.
 */
export async function runStep(context: RecipeContext, step: Step): Promise<string> {
  context.onProgress(step.title);
  const before = await outputOf(context);
  const running = await startProcess({
    name: step.title,
    command: step.command,
    args: step.args,
    cwd: step.cwd,
    env: { ...hostEnv(), ...step.env },
    logFile: context.logFile,
  });
  const ticker = setInterval(() => {
    void outputOf(context).then((output) => {
      if (step.hint) context.onProgress(`${step.title}, ${step.hint(output.slice(before.length))}`);
    });
  }, HINT_MS);
  try {
    const exit = await warden().hold(running.exited);
    const output = (await outputOf(context)).slice(before.length);
    if (exit.code !== 0) throw explainFailure(step.title, output, context.logFile);
    return output;
  } finally {
    clearInterval(ticker);
  }
}

async function outputOf(context: RecipeContext): Promise<string> {
  return readFile(context.logFile, "utf8").catch(() => "");
}

function hostEnv(): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(entries), LC_ALL: "C" };
}
