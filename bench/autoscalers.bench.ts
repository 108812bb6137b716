import { writeFileSync } from "node:fs";
import { OURS, OURS_WITH_HPA } from "./autoscalers/competitors/index.ts";
import { dominatorsOf, totalsOf } from "./autoscalers/league.ts";
import { totalsTable } from "./autoscalers/totals-table.ts";
import { runTraces } from "./autoscalers/run-traces.ts";
import { generateTraces } from "./autoscalers/traces/generate-traces.ts";
import { readTraces } from "./autoscalers/traces/read-traces.ts";
import type { Bench, Measurement } from "./harness.ts";
import { scaled } from "./kube/scale.ts";

const GENERATED = scaled(200);

/**
 * Compares autoscalers on one simulated function: violated minutes, replica hours and changes on generated load, and
 * on recorded load when a folder of traces is given.
 */
export const bench: Bench = {
  name: "autoscalers",
  flags: {
    traces: "folder with recorded traces (CSV)",
    metrics: "what the competitors see: same (Prometheus, default) or own",
    json: "file that receives one row per trace and competitor",
    table: "file that receives the totals as a Markdown table",
  },
  async run(log, { traces, json, table, metrics = "same" }) {
    if (metrics !== "same" && metrics !== "own") throw new Error(`--metrics is "${metrics}", use same or own`);
    const curves = [...(traces === undefined ? [] : readTraces(traces)), ...generateTraces(GENERATED)];
    const rows = await runTraces(curves, metrics, (done) => {
      if (done % 20 === 0) log(`${done} of ${curves.length} traces`);
    });
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(rows, undefined, 1)}\n`);
    if (table !== undefined) writeFileSync(table, totalsTable(totalsOf(rows), curves.length));
    const dominators = dominatorsOf(OURS, rows);
    for (const [trace, names] of dominators) log(`${trace}: better in both ${names.join(", ")}`);
    return {
      title: `Autoscalers on ${curves.length} traces of a day`,
      measurements: totalsOf(rows).flatMap(({ competitor, ...total }): Measurement[] => [
        { name: `${competitor}: violated minutes`, value: total.violatedMinutes, unit: "min" },
        { name: `${competitor}: replica hours`, value: total.replicaHours, unit: "h" },
        { name: `${competitor}: changes`, value: total.changesPerHour, unit: "per hour" },
        { name: `${competitor}: changes of direction`, value: total.directionChangesPerHour, unit: "per hour" },
        { name: `${competitor}: under-provisioned time`, value: 100 * total.underProvisionedTime, unit: "%" },
        { name: `${competitor}: over-provisioned time`, value: 100 * total.overProvisionedTime, unit: "%" },
        { name: `${competitor}: instability`, value: 100 * total.instability, unit: "%" },
        { name: `${competitor}: traces on which it is dominated`, value: total.dominated, unit: "traces" },
        { name: `${competitor}: dominated by an autoscaler`, value: total.dominatedByAutoscaler, unit: "traces" },
      ]),
      ratios: [
        {
          name: "traces on which oaas is not dominated / all",
          value: 1 - dominators.size / curves.length,
          // What is reached, to notice a regression. The goal and the reasons are in docs/how-it-works/autoscaler-comparison.md.
          floor: 0.54,
          explains: "no other competitor is better in violated minutes and replica hours; the goal is 0.95",
        },
        {
          name: "traces on which oaas with HPA is not dominated / all",
          value: 1 - dominatorsOf(OURS_WITH_HPA, rows).size / curves.length,
          floor: 0.65,
          explains: "the same for what a plain cluster deploys",
        },
      ],
    };
  },
};
