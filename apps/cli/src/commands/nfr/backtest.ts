import { sleep, timestamp, violationText } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import { parseYamlValue } from "@oaas/foundation/yaml";
import type { PolicySettings } from "@oaas/nfr";
import { DEFAULT_ANALYZER_SETTINGS } from "@oaas/nfr/analyzer";
import {
  plotSvg,
  readRecording,
  replayInSteps,
  simulateBacktestInSteps,
  writeRecording,
  type Backtest,
  type RecordedComponent,
  type Recording,
  type ReplayOptions,
} from "@oaas/nfr/backtest";
import { DEFAULT_POLICY, POLICY_VERSION, readPolicySettings } from "@oaas/nfr/policy";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";
import { fetchRecording, type FetchFlags } from "./fetch-recording.ts";
import { readText } from "./read-file.ts";

interface BacktestFlags extends FetchFlags {
  readonly policy?: string;
  readonly simulate: boolean;
  readonly svg?: string;
  readonly save?: string;
}

/** The simulation has fixed random numbers, so that two policies are compared on the same requests. */
const SEED = 1;
const PROGRESS_MS = 1000;

/**
 * Replays recorded metrics with a policy. Exits with 1 if the recording has decisions and the replay differs from one
 * of them.
 */
export async function backtest(session: Session, flags: BacktestFlags, file?: string): Promise<ExitCode> {
  const { environment } = session;
  const stated = flags.policy === undefined ? undefined : await readPolicy(session, flags.policy);
  const recording = await loadRecording(session, flags, file);
  if (flags.save !== undefined)
    await environment.files.writePrivate(flags.save, `${JSON.stringify(writeRecording(recording))}\n`);
  const shared = { tickMs: recording.tickMs, analyzer: DEFAULT_ANALYZER_SETTINGS };
  const results: Backtest[] = [];
  for (const component of recording.components) {
    const options = { ...shared, policy: stated ?? recordedPolicy(component) };
    results.push(await run(session, component, options, flags.simulate));
  }
  if (flags.svg !== undefined) await writePlots(session, flags.svg, results);
  if (session.isHumanOutput) session.print(results.map(backtestText).join("\n"));
  else session.printList(results.map(backtestView), { kind: "backtest", nameOf: nameOfResult, columns: [] });
  const isDifferent = results.some(({ comparisons }) => comparisons.some(({ result }) => result === "different"));
  return isDifferent ? EXIT.failed : EXIT.done;
}

/** The policy of the newest recorded decision, else the default. A policy of another version decides otherwise. */
function recordedPolicy({ decisions }: RecordedComponent): PolicySettings {
  const settings = decisions.at(-1)?.settings;
  return settings?.version === POLICY_VERSION ? settings : DEFAULT_POLICY;
}

async function loadRecording(session: Session, flags: FetchFlags, file: string | undefined): Promise<Recording> {
  if ((file === undefined) === (flags.prometheus === undefined))
    throw new UsageError(
      file === undefined ? "neither a recording nor a Prometheus server is named" : "both a file and --prometheus",
      "use oaas nfr backtest FILE, or oaas nfr backtest --prometheus URL --class NAME",
    );
  if (file === undefined) return fetchRecording(session, flags);
  const read = readRecording(parseJson(file, await readText(session, file)));
  if (read.ok) return read.value;
  throw new UsageError(`${file} is not a recording: ${read.error.map(violationText).join("; ")}`);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw new UsageError(`${file} is not JSON: ${(thrown as Error).message}`, "use a file of oaas nfr backtest --save");
  }
}

async function readPolicy(session: Session, file: string): Promise<PolicySettings> {
  const parsed = parseYamlValue(await readText(session, file));
  if (!parsed.ok) throw new UsageError(`${file} is not YAML: ${parsed.message}`, parsed.fix);
  const read = readPolicySettings(parsed.value);
  if (read.ok) return read.value;
  throw new UsageError(`${file} is invalid: ${read.error.map(violationText).join("; ")}`);
}

async function run(
  session: Session,
  component: RecordedComponent,
  options: ReplayOptions,
  isSimulation: boolean,
): Promise<Backtest> {
  const { component: name } = component;
  if (!isSimulation) return runSteps(session, `replayed ${name}`, replayInSteps(component, options));
  const steps = simulateBacktestInSteps(component, { ...options, random: () => seededRandom(SEED) });
  const simulated = await runSteps(session, `simulated ${name}`, steps);
  if (simulated.ok) return simulated.value;
  throw new UsageError(
    `${name} cannot be simulated: ${simulated.error}`,
    "record requests_per_second, latency_p50_ms and cpu_millicores for longer, or replay without --simulate",
  );
}

/** Runs a computation in steps, so that progress is shown and Ctrl-C works. */
async function runSteps<T>(session: Session, what: string, steps: Generator<number, T>): Promise<T> {
  const { signal, clock, timers, terminal } = session.environment;
  let shownAt = clock.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.now() - shownAt < PROGRESS_MS) continue;
    shownAt = clock.now();
    if (terminal.isInteractive) session.printNote(`${what}: ${Math.floor(step.value * 100)} %\n`);
    await sleep(timers, 0, signal);
  }
}

/** One file per component. */
async function writePlots(session: Session, file: string, results: readonly Backtest[]): Promise<void> {
  for (const [index, result] of results.entries()) {
    const name = index === 0 ? file : file.replace(/(?:\.svg)?$/, `-${index + 1}.svg`);
    await session.environment.files.writePrivate(name, plotSvg(result));
    session.printNote(`wrote ${name}\n`);
  }
}

const nameOfResult = ({ component }: { readonly component: string }): string => component;

/** The result without the points of the plot. */
function backtestView(result: Backtest) {
  const { points: _points, fromMs, toMs, actions, comparisons, ...rest } = result;
  return {
    ...rest,
    from: timestamp(fromMs),
    to: timestamp(toMs),
    actions: actions.map(({ atMs, ...action }) => ({ at: timestamp(atMs), ...action })),
    comparisons: comparisons.map(({ atMs, ...one }) => ({ at: timestamp(atMs), ...one })),
  };
}

const MODES: Readonly<Record<Backtest["mode"], string>> = {
  recorded: "decisions on the recorded samples, which do not react to the decisions",
  simulated: "simulation of the component with the recorded load",
};

function backtestText(result: Backtest): string {
  const { component, mode, fromMs, toMs, actions, model } = result;
  const head = `${component}: ${MODES[mode]}\n${timestamp(fromMs)} to ${timestamp(toMs)}\n`;
  const assumptions = model === undefined ? "" : modelText(model);
  const table =
    actions.length === 0
      ? "no changes\n"
      : tableText(actions, [
          { header: "TIME", cell: ({ atMs }) => timestamp(atMs) },
          { header: "CHANGE", cell: ({ from, to }) => `${from} -> ${to}` },
          { header: "LANE", cell: ({ lane }) => lane },
          { header: "REASON", cell: ({ reason }) => reason },
        ]);
  return `${head}${assumptions}\n${table}\n${totalsText(result)}${comparisonsText(result)}`;
}

function modelText({ serviceP50Ms, serviceP99Ms, latencyTargetMs, sources }: NonNullable<Backtest["model"]>): string {
  const numbers = `service ${round(serviceP50Ms)} ms (p99 ${round(serviceP99Ms)} ms), latency limit ${round(latencyTargetMs)} ms`;
  return `model: ${numbers}\n${sources.map((source) => `  ${source}\n`).join("")}`;
}

function totalsText(result: Backtest): string {
  const { mode, violatedMinutes, unknownMinutes, replicaHours, recordedReplicaHours, changes, directionChanges } =
    result;
  const violated = mode === "recorded" ? "violated minutes, as recorded" : "violated minutes";
  const recorded = recordedReplicaHours === undefined ? "" : ` (recorded ${round(recordedReplicaHours)})`;
  return [
    `${violated}: ${round(violatedMinutes)}`,
    ...(mode === "recorded" ? [`minutes without a verdict: ${round(unknownMinutes)}`] : []),
    `replica hours: ${round(replicaHours)}${recorded}`,
    `changes: ${changes}, of direction: ${directionChanges}`,
    "",
  ].join("\n");
}

function comparisonsText({ comparisons }: Backtest): string {
  if (comparisons.length === 0) return "";
  const equal = comparisons.filter(({ result }) => result !== "different").length;
  const identical = comparisons.filter(({ result }) => result === "identical").length;
  const different = comparisons.filter(({ result }) => result === "different");
  const head = `recorded decisions: ${equal} of ${comparisons.length} are the same, ${identical} with the same digest\n`;
  return (
    head +
    different
      .map(({ atMs, recorded, replayed }) => `  ${timestamp(atMs)}: recorded ${recorded}, replayed ${replayed}\n`)
      .join("")
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
