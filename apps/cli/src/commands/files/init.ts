import type { Violation } from "@oaas/foundation";
import { deploymentText, newContents, packageText, type NewClass } from "../../documents/new-documents.ts";
import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

export interface InitFlags {
  readonly name?: string;
  readonly class?: string;
  readonly function?: readonly string[];
  readonly image?: readonly string[];
  readonly state?: string;
  readonly cluster?: readonly string[];
  readonly availability?: number;
  readonly force: boolean;
  readonly yes: boolean;
}

const FILES = ["package.yaml", "deployment.yaml"] as const;

/** Writes a commented package and deployment from flags, and from the answers to questions on a terminal. */
export async function init(session: Session, flags: InitFlags, folder = "."): Promise<void> {
  const { files, terminal } = session.environment;
  const paths = FILES.map((name) => (folder === "." ? name : `${folder.replace(/(?<!\/)\/+$/, "")}/${name}`));
  if (!flags.force) await rejectExisting(session, paths);
  const isAsking = terminal.canPrompt && !flags.yes;
  const missing = QUESTIONS.filter(({ given }) => given(flags) === undefined);
  if (!isAsking && !flags.yes && missing.length > 0)
    throw new UsageError(
      "standard input is not a terminal, so no questions can be asked",
      `use --yes for the defaults, or set ${missing.map(({ flag }) => flag).join(", ")}`,
    );
  const choices = await choose(session, flags, isAsking);
  const [packagePath = "", deploymentPath = ""] = paths;
  const texts = [
    [packagePath, packageText(choices)],
    [deploymentPath, deploymentText(choices)],
  ] as const;
  await files.writeTogether(new Map(texts));
  session.printOutcome(
    { kind: "class", name: `${choices.packageName}.${choices.className}`, result: "written", files: paths },
    `Wrote ${paths.join(" and ")}.\n`,
  );
  session.printNote(
    `  next: oaas validate ${paths.map((path) => `-f ${path}`).join(" ")}\n        oaas apply ${paths.map((path) => `-f ${path}`).join(" ")} --wait\n`,
  );
}

async function rejectExisting({ environment }: Session, paths: readonly string[]): Promise<void> {
  for (const path of paths)
    if ((await environment.files.read(path)) !== undefined)
      throw new UsageError(`${path} exists`, "choose another folder: oaas init FOLDER; or overwrite it: --force");
}

interface Question {
  readonly flag: string;
  /** The answer that the flags give. */
  readonly given: (flags: InitFlags) => string | undefined;
  readonly text: (choices: NewClass) => string;
  readonly defaultOf: (choices: NewClass) => string;
  readonly set: (choices: NewClass, answer: string) => NewClass;
  /** The fields that the answer decides; their violations are shown at the question. */
  readonly fields: RegExp;
}

const STATES = ["none", "NONE", "READ_YOUR_WRITE", "BOUNDED_STALENESS", "STRONG"];

const splitList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "");

const imagesOf = ({ packageName }: NewClass, names: readonly string[]): NewClass["functions"] =>
  names.map((name) => ({ name, image: `example.test/${packageName}-${name}:1.0.0`.toLowerCase() }));

const QUESTIONS: readonly Question[] = [
  {
    flag: "--name",
    given: ({ name }) => name,
    text: () => "Name of the package",
    defaultOf: () => "hello",
    set: (choices, packageName) => ({ ...choices, packageName }),
    fields: /^\$\.(?:name|key|package_name)$/,
  },
  {
    flag: "--class",
    given: (flags) => flags.class,
    text: () => "Name of the class",
    defaultOf: ({ packageName }) => pascalCase(packageName),
    set: (choices, className) => ({ ...choices, className }),
    fields: /^\$\.(?:classes\[0\]\.key|class_key)$/,
  },
  {
    flag: "--function",
    given: (flags) => flags.function?.join(","),
    text: () => "Functions, separated by commas",
    defaultOf: () => "greet",
    set: (choices, answer) => ({ ...choices, functions: imagesOf(choices, splitList(answer)) }),
    fields: /function_bindings|^\$\.functions(?:\[\d+\]\.key)?$/,
  },
  {
    flag: "--image",
    given: ({ image }) => image?.join(","),
    text: ({ functions }) => `Container image of ${functions.map(({ name }) => name).join(", ")}, separated by commas`,
    defaultOf: ({ functions }) => functions.map(({ image }) => image).join(", "),
    set: setImages,
    fields: /container_image/,
  },
  {
    flag: "--state",
    given: ({ state }) => state,
    text: () => "State: none, READ_YOUR_WRITE, BOUNDED_STALENESS or STRONG",
    defaultOf: () => "READ_YOUR_WRITE",
    set: setState,
    fields: /state_spec/,
  },
  {
    flag: "--cluster",
    given: ({ cluster }) => cluster?.join(","),
    text: () => "Clusters, separated by commas; empty: the planner chooses",
    defaultOf: () => "",
    set: (choices, answer) => ({ ...choices, clusters: splitList(answer) }),
    fields: /target_clusters/,
  },
  {
    flag: "--availability",
    given: ({ availability }) => (availability === undefined ? undefined : String(availability)),
    text: () => "Target availability, such as 0.999; empty: none",
    defaultOf: () => "",
    set: (choices, answer) => (answer === "" ? choices : { ...choices, availability: Number(answer) }),
    fields: /nfr_requirements/,
  },
];

function setImages(choices: NewClass, answer: string): NewClass {
  const images = splitList(answer);
  const { functions } = choices;
  if (images.length > functions.length)
    throw new UsageError(`${images.length} images for ${functions.length} functions`, "give one image per function");
  return { ...choices, functions: functions.map((each, index) => ({ ...each, image: images[index] ?? each.image })) };
}

function setState(choices: NewClass, answer: string): NewClass {
  const state = STATES.find((each) => each.toLowerCase() === answer.toLowerCase());
  if (state === undefined)
    throw new UsageError(
      `"${answer}" is not a consistency model`,
      "use none, READ_YOUR_WRITE, BOUNDED_STALENESS or STRONG",
    );
  const { consistency: _, ...stateless } = choices;
  return state === "none" ? stateless : { ...choices, consistency: state };
}

function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

/** Answers every question: from its flag, at the prompt, or with its default. */
async function choose(session: Session, flags: InitFlags, isAsking: boolean): Promise<NewClass> {
  const { packageFromWire, classDeploymentFromWire } = await import("@oaas/contracts/rest");
  const violationsOf = (choices: NewClass, fields: RegExp): readonly Violation[] => {
    const contents = newContents(choices);
    const read = [packageFromWire(contents.package), classDeploymentFromWire(contents.deployment)];
    return read.flatMap((each) => (each.ok ? [] : each.error)).filter(({ path }) => fields.test(path));
  };
  let choices: NewClass = { packageName: "hello", className: "Hello", functions: [], clusters: [] };
  for (const question of QUESTIONS) {
    const answer = question.given(flags);
    const tryAnswer = (text: string): NewClass => {
      const next = question.set(choices, text);
      const [violation] = violationsOf(next, question.fields);
      if (violation) throw new UsageError(violation.message, violation.fix);
      if (question.flag === "--function" && next.functions.length === 0)
        throw new UsageError("no function given", "a class needs at least one function");
      return next;
    };
    if (answer !== undefined) choices = named(question.flag, () => tryAnswer(answer));
    else if (isAsking) choices = await ask(session, question, choices, tryAnswer);
    else choices = tryAnswer(question.defaultOf(choices));
  }
  return choices;
}

/** Adds the flag to the error about its value. */
function named(flag: string, run: () => NewClass): NewClass {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof UsageError) throw new UsageError(`${flag}: ${thrown.message}`, thrown.fix);
    throw thrown;
  }
}

/** Asks until the answer is valid; an empty answer is the default. */
async function ask(
  session: Session,
  question: Question,
  choices: NewClass,
  tryAnswer: (text: string) => NewClass,
): Promise<NewClass> {
  const { terminal } = session.environment;
  const fallback = question.defaultOf(choices);
  for (;;) {
    const typed = await terminal.prompt(`${question.text(choices)}${fallback === "" ? "" : ` [${fallback}]`}: `);
    try {
      return tryAnswer(typed.trim() === "" ? fallback : typed.trim());
    } catch (thrown) {
      if (!(thrown instanceof UsageError)) throw thrown;
      terminal.err(
        `  ${session.colours.bad("invalid:")} ${thrown.message}${thrown.fix === undefined ? "" : `; ${thrown.fix}`}\n`,
      );
    }
  }
}
