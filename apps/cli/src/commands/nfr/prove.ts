import { violationText } from "@oaas/foundation";
import { parseYamlValue } from "@oaas/foundation/yaml";
import {
  DEFAULT_GRID,
  LAWS,
  proveInSteps,
  readPolicySettings,
  type Counterexample,
  type Proof,
  type ProofGrid,
} from "@oaas/nfr/policy";
import type { PolicySettings } from "@oaas/nfr";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { readText } from "./read-file.ts";

interface ProveFlags {
  readonly maxReplicas?: number;
  readonly loads?: number;
  readonly tick?: number;
}

/** Checks a policy on every state of a grid. */
export async function provePolicy(session: Session, flags: ProveFlags, file = "-"): Promise<ExitCode> {
  const settings = readSettings(file, await readText(session, file));
  const grid = gridOf(flags, settings);
  const proof = await runProof(session, settings, grid);
  const result = proof.holds ? "holds" : `breaks "${proof.counterexample?.law}"`;
  const outcome = {
    kind: "policy",
    name: file,
    result,
    states: proof.states,
    laws: LAWS,
    grid,
    counterexample: proof.counterexample,
  };
  session.printOutcome(outcome, proofText(file, proof));
  return proof.holds ? EXIT.done : EXIT.failed;
}

function readSettings(file: string, text: string): PolicySettings {
  const parsed = parseYamlValue(text);
  if (!parsed.ok) throw new UsageError(`${file} is not YAML: ${parsed.message}`, parsed.fix);
  const read = readPolicySettings(parsed.value);
  if (read.ok) return read.value;
  throw new UsageError(`${file} is invalid: ${read.error.map(violationText).join("; ")}`);
}

/** Loads from one replica to the maximum, evenly spread. */
function gridOf({ maxReplicas, loads = 3, tick }: ProveFlags, settings: PolicySettings): ProofGrid {
  const most = Math.min(maxReplicas ?? DEFAULT_GRID.maxReplicas, settings.maxReplicas);
  const steps = Math.max(2, loads);
  const levels = Array.from({ length: steps }, (_, index) => Math.round(1 + (index * (most - 1)) / (steps - 1)));
  return {
    tickMs: tick === undefined ? DEFAULT_GRID.tickMs : tick * 1000,
    loads: [...new Set(levels)],
    minReplicas: 1,
    maxReplicas: most,
  };
}

/** Runs the proof in steps, so that progress is shown and Ctrl-C works. */
async function runProof(session: Session, settings: PolicySettings, grid: ProofGrid): Promise<Proof> {
  const { signal, clock, terminal } = session.environment;
  const steps = proveInSteps(settings, grid);
  let shownAt = clock.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.now() - shownAt < PROGRESS_MS) continue;
    shownAt = clock.now();
    if (terminal.isInteractive)
      session.printNote(`checked ${step.value.states} states, ${Math.floor(step.value.share * 100)} %\n`);
    await Promise.resolve();
    signal.throwIfAborted();
  }
}

const PROGRESS_MS = 1000;

function proofText(file: string, { holds, states, counterexample }: Proof): string {
  if (holds || !counterexample) return `${file}: ${LAWS.length} laws hold in ${states} states: ${LAWS.join(", ")}\n`;
  return `${file}: breaks "${counterexample.law}" after ${states} states: ${counterexample.detail}\n${traceText(counterexample)}`;
}

function traceText({ trace }: Counterexample): string {
  return trace
    .map(
      ({ atSeconds, load, current, decision }) => `  ${atSeconds} s: load ${load}, ${current} replicas: ${decision}\n`,
    )
    .join("");
}
