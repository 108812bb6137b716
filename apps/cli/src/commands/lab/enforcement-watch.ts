import type { Reply } from "@oaas/contracts/rest";
import { formatNumber } from "@oaas/nfr/explanation";
import { decide, readDecisionRecord, recompute, type DecisionRecord } from "@oaas/nfr/policy";
import { amountText, valueText } from "../../output/nfr-text.ts";
import type { Lab } from "./lab.ts";
import { isProbe } from "./probe-class.ts";

type Measurement = NonNullable<
  NonNullable<Reply<"listClassRuntimes">["value"][number]["nfr_compliance"]>["measurements"]
>[number];

/** What the class runtime manager of the target measured and decided about the test class. */
export interface EnforcementView {
  readonly measurements: readonly Measurement[];
  /** Of each change, the last one per dimension. */
  readonly decisions: readonly DecisionRecord[];
  /** Why nothing is changed now. */
  readonly lastSkip?: string;
}

/** Returns a function that waits until enforcement meets a condition, and reports new verdicts and decisions. */
export function watchEnforcement(
  lab: Lab,
): (what: string, findProblem: (view: EnforcementView) => string | undefined, patienceMs?: number) => Promise<void> {
  const reported = new Set<string>();
  const report = (key: string, text: string): void => {
    if (reported.has(key)) return;
    reported.add(key);
    lab.doing(text);
  };
  let verdict = "";
  return (what, findProblem, patienceMs) => {
    const condition = async (): Promise<string | undefined> => {
      const view = await readView(lab);
      for (const one of view.measurements) {
        const next = `${one.component} ${one.requirement} ${one.status ?? "unknown"}`;
        if (next !== verdict) lab.doing(`measured: ${measurementText(one)}`);
        verdict = next;
      }
      for (const record of view.decisions) report(record.digest, `enforcement: ${decisionText(record)}`);
      const problem = findProblem(view);
      return problem === undefined ? undefined : `${problem}${view.lastSkip ? ` (holds: ${view.lastSkip})` : ""}`;
    };
    return lab.waitUntil(`${what} in ${lab.target}`, condition, patienceMs);
  };
}

async function readView(lab: Lab): Promise<EnforcementView> {
  const { value: runtimes } = await lab.call("listClassRuntimes", { query: { cluster: lab.target, limit: 250 } });
  const runtime = runtimes.find(({ id }) => isProbe({ name: id }));
  if (runtime === undefined) return { measurements: [], decisions: [] };
  const { value } = await lab.call("getEnforcement", {
    parameters: { id: runtime.id },
    query: { cluster: lab.target },
  });
  const lastSkip = value.states.find(({ dimension }) => dimension === "replicas")?.last_skip;
  return {
    measurements: (runtime.nfr_compliance?.measurements ?? []).filter(({ requirement }) => requirement === LATENCY),
    decisions: value.decisions.flatMap(({ record }) => {
      const read = readDecisionRecord(JSON.parse(record));
      return read.ok ? [read.value] : [];
    }),
    ...(lastSkip === undefined ? {} : { lastSkip }),
  };
}

const LATENCY = "max_latency_ms";

function measurementText({
  component,
  requirement,
  status,
  observed,
  required,
  unit,
  reason,
  burn_rates,
}: Measurement) {
  const [fastest] = burn_rates;
  const burns =
    fastest?.short_rate === undefined || fastest.short_rate <= 1
      ? ""
      : `, the error budget burns ${formatNumber(fastest.short_rate)} times too fast in ${fastest.short_window}`;
  const amount = `${amountText(observed, unit)}, required ${amountText(required, unit)}`;
  return `${component} ${requirement} is ${status ?? "unknown"}: ${reason ?? `${amount}${burns}`}`;
}

/** The change, its lane, the number that decided, and whether the decision is the same when computed here. */
function decisionText(record: DecisionRecord): string {
  const { input, settings, outcome } = record;
  if (outcome.action === "hold") return `${input.component} unchanged`;
  const { gates } = decide(input, settings);
  const gate = outcome.lane === "verification" ? "verification" : "stability";
  const why = gates.find((one) => one.gate === gate)?.detail ?? "";
  const value = (number: number) => valueText(number, input.dimension);
  const wanted = input.recommendation === undefined ? "" : `, ${value(input.recommendation.target)} recommended`;
  const change = `${input.component} ${input.dimension} ${value(outcome.from)} → ${value(outcome.to)}${wanted}`;
  return `${change}, ${outcome.lane} lane: ${why}; recomputed ${recompute(record).isEqual ? "equal" : "not equal"}`;
}
