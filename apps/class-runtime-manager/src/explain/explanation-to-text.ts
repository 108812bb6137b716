import type { Explanation, ExplanationPart, ExplanationVerdict, TemplateExplanation } from "./explanation.ts";

const MARKS = { healthy: "ok", transient: "waiting", permanent: "BLOCKED" } as const satisfies Record<
  ExplanationVerdict,
  string
>;

/** Formats the explanation as text: summary first, then the chain of causes, then the template. */
export function explanationToText(explanation: Explanation): string {
  const { summary, verdict, action, root, template } = explanation;
  return [
    summary,
    verdictText(verdict),
    ...(action === "" ? [] : [`Action: ${action}`]),
    "",
    ...partLines(root, 0),
    ...(template === undefined ? [] : ["", ...templateLines(template)]),
    "",
  ].join("\n");
}

function verdictText(verdict: ExplanationVerdict): string {
  switch (verdict) {
    case "healthy":
      return "No action required.";
    case "transient":
      return "It resolves without action.";
    case "permanent":
      return "It requires action.";
  }
}

function partLines(part: ExplanationPart, depth: number): string[] {
  const { verdict, level, reason, message, since, count = 1, causes } = part;
  const occurrence = [
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(count > 1 ? [`${count} times`] : []),
  ].join(", ");
  const line = [
    `${"  ".repeat(depth)}${titleOf(part)}`,
    level === "event" ? "" : `[${MARKS[verdict]}]`,
    level === "event" ? "" : reason,
    depth === 0 ? "" : `– ${message}`,
    occurrence === "" ? "" : `(${occurrence})`,
  ];
  return [line.filter((word) => word !== "").join(" "), ...causes.flatMap((cause) => partLines(cause, depth + 1))];
}

function titleOf({ level, name, resource, reason }: ExplanationPart): string {
  switch (level) {
    case "class":
      return `class ${name}`;
    case "function":
      return `function ${name}`;
    case "odgm":
      return "state store";
    case "event":
      return `event ${reason}`;
    case "workload":
    case "pod":
    case "node":
      return resource === undefined ? name : `${resource.kind} ${name}`;
  }
}

function templateLines({ chosen, rule, requested, candidates, wouldChange }: TemplateExplanation): string[] {
  const how = {
    explicit: "named by the class",
    hint: "hinted by the class",
    environment: "named by the environment",
    score: "highest score",
  }[rule];
  return [
    `Template ${chosen}: ${how}${requested === undefined ? "" : ` (requested: ${requested})`}.`,
    ...candidates.map(
      ({ name, score, because }) => `  ${name}: ${score}${because === undefined ? "" : ` – ${because}`}`,
    ),
    `To change it: ${wouldChange}`,
  ];
}
