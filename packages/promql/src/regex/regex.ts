import { invalidQuery } from "../errors.ts";
import { parseRegex, type CharRange, type RegexNode } from "./parse-regex.ts";

/** Receives the steps of each match, to bound the work of a query. */
export type SpendSteps = (steps: number) => void;

/** The text of each capturing group by number, the whole match first; undefined for a group that took no part. */
export type Groups = readonly (string | undefined)[];

/** A regular expression that matches whole texts in linear time: steps are at most text × pattern. */
export interface Regex {
  matches(text: string): boolean;
  /** The groups of a match, or undefined. */
  match(text: string): Groups | undefined;
  readonly groupNames: readonly (string | undefined)[];
}

type Instruction =
  | { readonly op: "char"; readonly test: (code: number) => boolean }
  | { readonly op: "split"; readonly first: number; readonly second: number }
  | { readonly op: "jump"; readonly to: number }
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "begin" | "end" | "match" };

const MAX_PROGRAM = 2000;

/**
 * Compiles a pattern for whole texts, as Prometheus anchors matchers. Threads advance together as in RE2 (Pike's
 * virtual machine), so that no pattern backtracks.
 */
export function compileRegex(pattern: string, spend: SpendSteps = () => {}): Regex {
  const { root, ignoresCase, groupNames } = parseRegex(pattern);
  const alternatives = ignoresCase ? undefined : literalAlternatives(root);
  const code: Instruction[] = [];
  emit({ type: "group", part: root, index: 0 }, code, ignoresCase);
  code.push({ op: "match" });
  const run = (text: string, slots: number): Slots | undefined => runProgram({ code, slots, spend }, text);
  return {
    groupNames,
    matches: (text) => alternatives?.has(text) ?? run(text, 0) !== undefined,
    match: (text) => {
      const slots = run(text, groupNames.length * 2);
      if (!slots) return undefined;
      const chars = Array.from(text);
      return groupNames.map((_, index) => sliceOf(chars, slots[index * 2], slots[index * 2 + 1]));
    },
  };
}

function sliceOf(chars: readonly string[], from: number | undefined, to: number | undefined): string | undefined {
  return from === undefined || to === undefined ? undefined : chars.slice(from, to).join("");
}

/** The texts of `a|b|c`, for a look-up instead of a run. */
function literalAlternatives(root: RegexNode): ReadonlySet<string> | undefined {
  const texts = (root.type === "choice" ? root.parts : [root]).map(literalText);
  return texts.every((text) => text !== undefined) ? new Set(texts) : undefined;
}

function literalText(node: RegexNode): string | undefined {
  if (node.type === "sequence") {
    const texts = node.parts.map(literalText);
    return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
  }
  const [range, other] = node.type === "char" && !node.isNegated ? node.ranges : [];
  return range && !other && range[0] === range[1] ? String.fromCodePoint(range[0]) : undefined;
}

function emit(node: RegexNode, code: Instruction[], ignoresCase: boolean): void {
  if (code.length > MAX_PROGRAM) throw invalidQuery("regular expression is too large: reduce its repetitions");
  switch (node.type) {
    case "char":
      code.push({ op: "char", test: charTest(node.ranges, node.isNegated, ignoresCase) });
      break;
    case "sequence":
      for (const part of node.parts) emit(part, code, ignoresCase);
      break;
    case "choice":
      emitChoice(node.parts, code, ignoresCase);
      break;
    case "repeat":
      emitRepeat(node, code, ignoresCase);
      break;
    case "group":
      code.push({ op: "save", slot: node.index * 2 });
      emit(node.part, code, ignoresCase);
      code.push({ op: "save", slot: node.index * 2 + 1 });
      break;
    case "begin":
    case "end":
      code.push({ op: node.type });
      break;
  }
}

function emitChoice(parts: readonly RegexNode[], code: Instruction[], ignoresCase: boolean): void {
  const jumps: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1) emit(part, code, ignoresCase);
    else {
      const split = code.push({ op: "match" }) - 1;
      emit(part, code, ignoresCase);
      jumps.push(code.push({ op: "match" }) - 1);
      code[split] = { op: "split", first: split + 1, second: code.length };
    }
  }
  for (const jump of jumps) code[jump] = { op: "jump", to: code.length };
}

type Repeat = Extract<RegexNode, { type: "repeat" }>;

function emitRepeat({ part, min, max, isLazy }: Repeat, code: Instruction[], ignoresCase: boolean): void {
  for (let copy = 0; copy < min; copy += 1) emit(part, code, ignoresCase);
  const splits: number[] = [];
  const copies = max === Infinity ? 1 : max - min;
  for (let copy = 0; copy < copies; copy += 1) {
    splits.push(code.push({ op: "match" }) - 1);
    emit(part, code, ignoresCase);
  }
  if (max === Infinity && splits[0] !== undefined) code.push({ op: "jump", to: splits[0] });
  for (const split of splits) {
    const [into, past] = [split + 1, code.length];
    code[split] = isLazy ? { op: "split", first: past, second: into } : { op: "split", first: into, second: past };
  }
}

function charTest(ranges: readonly CharRange[], isNegated: boolean, ignoresCase: boolean): (code: number) => boolean {
  const isIn = (code: number): boolean => ranges.some(([lo, hi]) => code >= lo && code <= hi);
  if (!ignoresCase) return (code) => isIn(code) !== isNegated;
  return (code) => {
    const char = String.fromCodePoint(code);
    const cases = [code, char.toLowerCase().codePointAt(0) ?? code, char.toUpperCase().codePointAt(0) ?? code];
    return cases.some(isIn) !== isNegated;
  };
}

type Slots = readonly (number | undefined)[];

interface Program {
  readonly code: readonly Instruction[];
  /** 0 when only the fact of a match is needed. */
  readonly slots: number;
  readonly spend: SpendSteps;
}

interface Thread {
  readonly at: number;
  readonly slots: Slots;
}

const NO_SLOTS: Slots = [];

function runProgram({ code, slots, spend }: Program, text: string): Slots | undefined {
  const points = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  /** The position at which an instruction was last visited, plus one. */
  const visited = new Int32Array(code.length);
  let steps = 0;
  let threads: Thread[] = [];

  const add = (list: Thread[], start: Thread, position: number): void => {
    // A stack in the order of preference, instead of recursion.
    const stack = [start];
    for (let thread = stack.pop(); thread; thread = stack.pop()) {
      const instruction = code[thread.at];
      if (!instruction || visited[thread.at] === position + 1) continue;
      visited[thread.at] = position + 1;
      steps += 1;
      const next = follow(instruction, thread, { position, length: points.length, slots });
      if (next === "keep") list.push(thread);
      else stack.push(...next);
    }
  };

  add(threads, { at: 0, slots: NO_SLOTS }, 0);
  for (const [position, point] of points.entries()) {
    const advanced: Thread[] = [];
    for (const thread of threads) {
      const instruction = code[thread.at];
      if (instruction?.op === "char" && instruction.test(point)) {
        add(advanced, { at: thread.at + 1, slots: thread.slots }, position + 1);
      }
    }
    threads = advanced;
    if (threads.length === 0) break;
  }
  spend(steps);
  return threads.find(({ at }) => code[at]?.op === "match")?.slots;
}

interface Place {
  readonly position: number;
  readonly length: number;
  readonly slots: number;
}

/** The threads that continue without reading, least preferred first; "keep" waits for a character or the end. */
function follow(instruction: Instruction, { at, slots }: Thread, place: Place): readonly Thread[] | "keep" {
  switch (instruction.op) {
    case "char":
      return "keep";
    case "match":
      return place.position === place.length ? "keep" : [];
    case "jump":
      return [{ at: instruction.to, slots }];
    case "split":
      return [
        { at: instruction.second, slots },
        { at: instruction.first, slots },
      ];
    case "save":
      return [{ at: at + 1, slots: place.slots === 0 ? slots : saved(slots, instruction.slot, place) }];
    case "begin":
      return place.position === 0 ? [{ at: at + 1, slots }] : [];
    case "end":
      return place.position === place.length ? [{ at: at + 1, slots }] : [];
  }
}

function saved(slots: Slots, slot: number, { position, slots: count }: Place): Slots {
  const copy = slots.length === 0 ? Array.from<number | undefined>({ length: count }) : [...slots];
  copy[slot] = position;
  return copy;
}
