/**
 * `npm run conformance [-- --record] [--subject name] [--sequences n] [--seed n] [--recorded]`: prints the table for
 * both servers.
 */
import { parseArgs } from "node:util";
import { runConformance, type SubjectReport } from "./src/conformance.ts";

const { values } = parseArgs({
  options: {
    /** Records the responses of the real server again. */
    record: { type: "boolean", default: false },
    /** Only subjects whose names start with this; `random sequences` is one too. */
    subject: { type: "string" },
    sequences: { type: "string", default: "100" },
    seed: { type: "string", default: "20261115" },
    /** Compares the embedded server with the recording, without the real server. */
    recorded: { type: "boolean", default: false },
  },
});

const { subject } = values;
const report = await runConformance({
  isReal: () => !values.recorded,
  isRecording: values.record,
  sequences: values.recorded || subject?.startsWith("random") === false ? 0 : Number(values.sequences),
  seed: Number(values.seed),
  ...(subject === undefined ? {} : { isWanted: (candidate) => candidate.subject.startsWith(subject) }),
});
console.log(table(report.subjects));
for (const problem of report.problems) console.log(`✗ ${problem}`);
const { length } = report.problems;
console.log(length === 0 ? "Both servers agree except for listed differences." : `${length} unexplained.`);
process.exitCode = length === 0 ? 0 : 1;

function table(subjects: readonly SubjectReport[]): string {
  const sum = (of: (report: SubjectReport) => number): number =>
    subjects.reduce((total, report) => total + of(report), 0);
  const rows = subjects.map(({ subject: name, cases, real, embedded, listed }) => [
    name,
    cases,
    real,
    embedded,
    listed,
  ]);
  const totals = [
    "all",
    sum(({ cases }) => cases),
    sum(({ real }) => real),
    sum(({ embedded }) => embedded),
    sum(({ listed }) => listed),
  ];
  const all = [
    ["subject", "cases", "passes on the real server", "same on the embedded server", "listed differences"],
    ...rows,
    totals,
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => String(row[column]).length)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? String(cell).padEnd(widths[0] ?? 0) : String(cell).padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .join("\n");
}
