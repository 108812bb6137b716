import { abortFault, failedPrecondition, Fault } from "@oaas/foundation";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { CheckFailed, Lab, type Check, type LabReport } from "./lab.ts";
import { PROBE, removeProbe } from "./probe-class.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import type { Session } from "../../session/session.ts";
import { dataFolder, findStack, type RunningStack, type StackHealth } from "../local-stack/running-stack.ts";

export async function listScenarios(session: Session): Promise<void> {
  session.printList(
    SCENARIOS.map(({ name, brief, expectations: sees }) => ({ name, brief, sees })),
    {
      kind: "scenario",
      nameOf: ({ name }) => name,
      columns: [
        { header: "SCENARIO", cell: ({ name }) => name },
        { header: "FAULT", cell: ({ brief }) => brief },
      ],
    },
  );
  session.printNote("\nRun one: oaas lab run cluster-down\n");
}

export interface RunFlags {
  readonly data?: string;
  readonly cluster?: string;
  readonly timeout: number;
}

/** Runs fault injection scenarios against the local stack and removes the faults. Exits with 1 if a check fails. */
export async function runScenarios(session: Session, flags: RunFlags, ...names: readonly string[]): Promise<ExitCode> {
  const scenarios = selectScenarios(names);
  const { stack, health } = await requireHealthyStack(session, flags);
  const target = selectTarget(health, flags.cluster);
  const results: Result[] = [];
  for (const scenario of scenarios)
    results.push(await runScenario(session, scenario, stack, target, health, flags.timeout));
  if (!session.isHumanOutput) {
    session.printList(results, { kind: "scenario", nameOf: ({ scenario }) => scenario, columns: [] });
  }
  return results.every(({ ok }) => ok) ? EXIT.done : EXIT.failed;
}

/** Removes all injected faults. */
export async function restoreStack(session: Session, flags: { readonly data?: string }): Promise<void> {
  const stack = await requireStack(session, flags);
  await stack.restore();
  session.printNote("All injected faults are removed.\n");
}

interface Result {
  readonly scenario: string;
  readonly ok: boolean;
  readonly checks: readonly Check[];
}

async function runScenario(
  session: Session,
  scenario: Scenario,
  stack: RunningStack,
  target: string,
  { clusters, package_manager: { url = "" } }: StackHealth,
  patienceMs: number,
): Promise<Result> {
  const { environment, colours } = session;
  const checks: Check[] = [];
  const report = createReport(session, checks);
  const { createRestClient } = await import("@oaas/contracts/rest");
  const lab = new Lab({
    environment,
    stack,
    client: createRestClient({ baseUrl: url, fetch: environment.fetch, clock: environment.clock }),
    report,
    target,
    otherClusters: clusters.map(({ name }) => name).filter((name) => name !== target),
    timeoutMs: patienceMs,
  });
  print(session, `${colours.bold(scenario.name)}: ${scenario.brief}\n`);
  for (const line of scenario.expectations) print(session, colours.dim(`    ${line}\n`));
  const attempt = async (work: Promise<void>): Promise<boolean> =>
    work.then(
      () => true,
      (thrown: unknown) => {
        if (thrown instanceof CheckFailed || environment.signal.aborted) return false;
        report.check({ what: "no unexpected error", ok: false, ms: 0, found: Fault.from(thrown).message });
        return false;
      },
    );
  const isPlayed = await attempt(scenario.run(lab));
  await lab.restoreAll();
  if (environment.signal.aborted) {
    session.printNote(
      `All injected faults are removed. The test class may still be deployed; delete it with: oaas deployment delete ${PROBE}\n`,
    );
    throw abortFault(environment.signal);
  }
  const isRemoved = await attempt(removeProbe(lab));
  const ok = isPlayed && isRemoved;
  print(session, `${ok ? colours.good("passed") : colours.bad("failed")}: ${scenario.name}\n\n`);
  return { scenario: scenario.name, ok, checks };
}

function createReport(session: Session, checks: Check[]): LabReport {
  const { colours } = session;
  return {
    step: (text) => print(session, `  · ${text}\n`),
    check: (check) => {
      checks.push(check);
      const seconds = `${(check.ms / 1000).toFixed(1)} s`;
      const sign = check.ok ? colours.good("✓") : colours.bad("✗");
      print(session, `  ${sign} ${check.what} ${colours.dim(`(${seconds})`)}\n`);
      if (!check.ok) print(session, `      found: ${check.found}\n`);
    },
  };
}

function print(session: Session, text: string): void {
  if (session.isHumanOutput) session.print(text);
}

function selectScenarios(names: readonly string[]): readonly Scenario[] {
  if (names.length === 0) {
    throw new UsageError(
      "no scenario given",
      `oaas lab run NAME, where NAME is all or one of ${SCENARIOS.map(({ name }) => name).join(", ")}`,
    );
  }
  if (names.length === 1 && names[0] === "all") return SCENARIOS;
  return names.map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (found) return found;
    throw new UsageError(
      `unknown scenario "${name}"`,
      `use one of ${SCENARIOS.map((scenario) => scenario.name).join(", ")}, or all`,
    );
  });
}

async function requireStack(session: Session, flags: { readonly data?: string }): Promise<RunningStack> {
  const dataDir = dataFolder(flags, session.environment);
  const stack = await findStack(session.environment, dataDir);
  if (stack === undefined || (await stack.health()) === undefined) {
    throw failedPrecondition(
      "the local stack",
      `no local stack is running with data folder ${dataDir}; start one in another terminal: oaas up`,
    );
  }
  return stack;
}

/** Returns the stack if it is healthy and has no injected fault, which the checks require. */
async function requireHealthyStack(
  session: Session,
  flags: { readonly data?: string },
): Promise<{ readonly stack: RunningStack; readonly health: StackHealth }> {
  const stack = await requireStack(session, flags);
  const health = await stack.health();
  if (health?.status !== "healthy") {
    throw failedPrecondition(
      "the local stack",
      "the local stack is not healthy: see oaas status, or remove injected faults with oaas lab restore",
    );
  }
  if (health.broken.length > 0) {
    const what = health.broken.map(({ fault, cluster }) => [fault, cluster].filter(Boolean).join(" in ")).join(", ");
    throw failedPrecondition(
      "the local stack",
      `the local stack has injected faults (${what}); remove them first: oaas lab restore`,
    );
  }
  return { stack, health };
}

function selectTarget({ clusters }: StackHealth, requested: string | undefined): string {
  const names = clusters.map(({ name }) => name);
  const [first] = names;
  if (first === undefined || names.length < 2) {
    throw failedPrecondition("the local stack", "scenarios need at least two clusters: oaas up --clusters 2");
  }
  if (requested === undefined) return first;
  if (names.includes(requested)) return requested;
  throw new UsageError(`unknown cluster "${requested}"`, `use one of ${names.join(", ")}`);
}
