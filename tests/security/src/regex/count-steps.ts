import type { Part } from "./pattern.ts";

/*
 * A backtracking matcher that counts its steps, so that growth is measured without a clock. It tries alternatives in the
 * order of ECMAScript and remembers nothing between them, like the engine of V8.
 */

type Instruction =
  | { readonly op: "char"; readonly matches: (char: string) => boolean }
  | { readonly op: "split"; readonly first: number; readonly second: number }
  | { readonly op: "jump"; readonly to: number }
  | { readonly op: "mark"; readonly slot: number }
  | { readonly op: "progress"; readonly slot: number }
  | {
      readonly op: "look";
      readonly program: readonly Instruction[];
      readonly isAhead: boolean;
      readonly isNegative: boolean;
    }
  | { readonly op: "assertion"; readonly kind: "^" | "$" | "b" | "B" }
  | { readonly op: "match" };

/** A compiled regular expression. */
export interface Program {
  readonly code: readonly Instruction[];
  readonly flags: string;
}

export function compile(part: Part, flags: string): Program {
  const code: Instruction[] = [];
  emit(part, code, { slots: 0 });
  code.push({ op: "match" });
  return { code, flags };
}

function emit(part: Part, code: Instruction[], counter: { slots: number }): void {
  switch (part.type) {
    case "char":
      code.push({ op: "char", matches: part.matches });
      break;
    case "sequence":
      for (const each of part.parts) emit(each, code, counter);
      break;
    case "choice":
      emitChoice(part.parts, code, counter);
      break;
    case "repeat":
      for (let copy = 0; copy < part.min; copy += 1) emit(part.part, code, counter);
      if (part.max === Infinity) emitLoop(part, code, counter);
      else emitOptional(part, part.max - part.min, code, counter);
      break;
    case "look": {
      const program: Instruction[] = [];
      emit(part.part, program, counter);
      program.push({ op: "match" });
      code.push({ op: "look", program, isAhead: part.isAhead, isNegative: part.isNegative });
      break;
    }
    case "assertion":
      code.push({ op: "assertion", kind: part.kind });
      break;
  }
}

function emitChoice(parts: readonly Part[], code: Instruction[], counter: { slots: number }): void {
  const ends: number[] = [];
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const split = isLast ? undefined : code.push({ op: "match" }) - 1;
    emit(part, code, counter);
    if (split !== undefined) {
      ends.push(code.push({ op: "match" }) - 1);
      code[split] = { op: "split", first: split + 1, second: code.length };
    }
  }
  for (const end of ends) code[end] = { op: "jump", to: code.length };
}

type Repeat = Extract<Part, { type: "repeat" }>;

function emitLoop({ part, isLazy }: Repeat, code: Instruction[], counter: { slots: number }): void {
  const slot = counter.slots;
  counter.slots += 1;
  const split = code.push({ op: "match" }) - 1;
  code.push({ op: "mark", slot });
  emit(part, code, counter);
  // An iteration without progress fails.
  code.push({ op: "progress", slot }, { op: "jump", to: split });
  code[split] = splitTo(split + 1, code.length, isLazy);
}

function emitOptional({ part, isLazy }: Repeat, copies: number, code: Instruction[], counter: { slots: number }): void {
  const splits: number[] = [];
  for (let copy = 0; copy < copies; copy += 1) {
    splits.push(code.push({ op: "match" }) - 1);
    emit(part, code, counter);
  }
  for (const split of splits) code[split] = splitTo(split + 1, code.length, isLazy);
}

function splitTo(into: number, past: number, isLazy: boolean): Instruction {
  return isLazy ? { op: "split", first: past, second: into } : { op: "split", first: into, second: past };
}

/** The steps of a search, and the first match. */
export interface Search {
  readonly steps: number;
  readonly match?: { readonly index: number; readonly end: number };
}

/** Searches a text as `matchAll` does for a global expression and `exec` for any other; stops after `maxSteps`. */
export function search({ code, flags }: Program, text: string, maxSteps: number): Search {
  const chars = flags.includes("u") || flags.includes("v") ? Array.from(text) : text.split("");
  const run: Run = { chars, isMultiline: flags.includes("m"), steps: 0, maxSteps };
  let first: { index: number; end: number } | undefined;
  for (let start = 0; start <= chars.length && run.steps < maxSteps;) {
    const end = matchAt(code, run, start, 1);
    if (end !== undefined) first ??= { index: start, end };
    if (end === undefined ? flags.includes("y") : !flags.includes("g")) break;
    start = end === undefined || end === start ? start + 1 : end;
  }
  return { steps: run.steps, ...(first === undefined ? {} : { match: first }) };
}

interface Run {
  readonly chars: readonly string[];
  readonly isMultiline: boolean;
  steps: number;
  readonly maxSteps: number;
}

interface Thread {
  readonly at: number;
  readonly position: number;
  readonly marks: readonly number[];
}

/** Matches a program at a position; returns the end. Looking behind matches the reversed way only for single characters. */
function matchAt(code: readonly Instruction[], run: Run, start: number, depth: number): number | undefined {
  const waiting: Thread[] = [{ at: 0, position: start, marks: [] }];
  for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
    let { at, position, marks } = thread;
    for (;;) {
      run.steps += 1;
      if (run.steps > run.maxSteps) return undefined;
      const instruction = code[at] as Instruction;
      if (instruction.op === "match") return position;
      if (instruction.op === "split") {
        waiting.push({ at: instruction.second, position, marks });
        at = instruction.first;
        continue;
      }
      if (instruction.op === "jump") {
        at = instruction.to;
        continue;
      }
      if (instruction.op === "mark") {
        marks = withMark(marks, instruction.slot, position);
      } else if (instruction.op === "char") {
        const char = run.chars[position];
        if (char === undefined || !instruction.matches(char)) break;
        position += 1;
      } else if (!holds(instruction, run, position, marks, depth)) break;
      at += 1;
    }
  }
  return undefined;
}

function withMark(marks: readonly number[], slot: number, position: number): readonly number[] {
  const changed = marks.slice();
  changed[slot] = position;
  return changed;
}

function holds(
  instruction: Extract<Instruction, { op: "progress" | "look" | "assertion" }>,
  run: Run,
  position: number,
  marks: readonly number[],
  depth: number,
): boolean {
  if (instruction.op === "progress") return marks[instruction.slot] !== position;
  if (instruction.op === "assertion") return isAsserted(instruction.kind, run, position);
  if (instruction.isAhead)
    return (matchAt(instruction.program, run, position, depth + 1) !== undefined) !== instruction.isNegative;
  // Behind: some start from which the program ends here.
  let found = false;
  for (let start = position; start >= 0 && !found; start -= 1) {
    found = matchAt(instruction.program, run, start, depth + 1) === position;
    if (position - start > MAX_BEHIND) break;
  }
  return found !== instruction.isNegative;
}

/** Our expressions look behind by a few characters only. */
const MAX_BEHIND = 8;

function isAsserted(kind: "^" | "$" | "b" | "B", { chars, isMultiline }: Run, position: number): boolean {
  if (kind === "^") return position === 0 || (isMultiline && isLineEnd(chars[position - 1]));
  if (kind === "$") return position === chars.length || (isMultiline && isLineEnd(chars[position]));
  return (isWord(chars[position - 1]) !== isWord(chars[position])) === (kind === "b");
}

function isLineEnd(char: string | undefined): boolean {
  return char === "\n" || char === "\r" || char === "\u2028" || char === "\u2029";
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /^\w$/.test(char);
}
