import type { Part } from "./pattern.ts";

/** A family of texts: a beginning, a part that is repeated, and an end that prevents a match. */
export interface Attack {
  readonly prefix: string;
  readonly pump: string;
  readonly suffix: string;
}

export function attackText({ prefix, pump, suffix }: Attack, pumps: number): string {
  return prefix + pump.repeat(pumps) + suffix;
}

/** A character that hardly any expression accepts. */
const REJECTED = "\u0000";
const MAX_PUMPS = 12;

/** Texts made of the parts of an expression: each unbounded repetition is pumped, alone and with all before it. */
export function attacksOn(root: Part): readonly Attack[] {
  const letters = [...new Set(charsOf(root).flatMap(({ samples }) => samples.slice(0, 3)))];
  const found = new Map<string, Attack>();
  const add = (prefix: string, pump: string): void => {
    if (pump === "") return;
    found.set(JSON.stringify([prefix, pump]), { prefix, pump, suffix: REJECTED });
  };
  for (const { part, before } of repetitionsIn(root, "")) {
    const [body = ""] = samplesOf(part);
    for (const pump of pumpsOf(part, letters)) {
      add(before, pump);
      add("", pump);
      // The beginning of the text hides the anchored parts of a choice.
      add(REJECTED, pump);
      add(before + body, pump);
      add("", before + pump);
    }
  }
  if (found.size > 0) for (const sample of samplesOf(root)) add("", sample);
  return [...found.values()];
}

/** Whether an expression repeats anything without a bound. */
export function isUnbounded(root: Part): boolean {
  return repetitionsIn(root, "").length > 0;
}

/** Whether bounded repetitions were reduced, so that the model matches fewer texts than the expression. */
export function isReduced(part: Part): boolean {
  if (part.type === "repeat") return part.isReduced || isReduced(part.part);
  if (part.type === "sequence" || part.type === "choice") return part.parts.some(isReduced);
  return part.type === "look" && isReduced(part.part);
}

type Char = Extract<Part, { type: "char" }>;

function charsOf(part: Part): readonly Char[] {
  if (part.type === "char") return [part];
  if (part.type === "sequence" || part.type === "choice") return part.parts.flatMap(charsOf);
  return part.type === "assertion" ? [] : charsOf(part.part);
}

interface Repetition {
  readonly part: Part;
  /** A text that the expression matches before it. */
  readonly before: string;
}

function repetitionsIn(part: Part, before: string): readonly Repetition[] {
  if (part.type === "repeat") {
    const inner = repetitionsIn(part.part, before);
    return part.max === Infinity ? [{ part: part.part, before }, ...inner] : inner;
  }
  if (part.type === "look") return repetitionsIn(part.part, before);
  if (part.type === "choice") return part.parts.flatMap((each) => repetitionsIn(each, before));
  if (part.type !== "sequence") return [];
  let text = before;
  return part.parts.flatMap((each) => {
    const inner = repetitionsIn(each, text);
    text += samplesOf(each)[0] ?? "";
    return inner;
  });
}

function pumpsOf(part: Part, letters: readonly string[]): readonly string[] {
  const chars = part.type === "char" || part.type === "choice" ? charsOf(part) : [];
  const accepted = letters.filter((letter) => chars.some((char) => char.matches(letter)));
  return [...new Set([...samplesOf(part), ...accepted])].slice(0, MAX_PUMPS);
}

/** Some short texts that a part matches, most of them. */
function samplesOf(part: Part): readonly string[] {
  switch (part.type) {
    case "char":
      return part.samples.slice(0, 2);
    case "choice":
      return part.parts.flatMap(samplesOf).slice(0, 4);
    case "repeat":
      return samplesOf(part.part).map((sample) => sample.repeat(Math.max(part.min, 1)));
    case "sequence": {
      const [first, second] = [0, 1].map((index) =>
        part.parts
          .map((each) => samplesOf(each))
          .map((samples) => samples[index] ?? samples[0] ?? "")
          .join(""),
      );
      return [...new Set([first ?? "", second ?? ""])];
    }
    case "look":
    case "assertion":
      return [""];
  }
}
