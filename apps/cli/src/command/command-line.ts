/** The parts of Stricli's commands and route maps that are needed before it scans a command line. */
interface RoutingTarget {
  readonly getRoutingTargetForInput?: (word: string) => RoutingTarget | undefined;
  readonly getAllEntries?: () => readonly {
    readonly name: Readonly<Record<"convert-camel-to-kebab", string>>;
    readonly hidden: boolean;
  }[];
  readonly parameters?: {
    readonly flags?: Readonly<Record<string, { readonly kind: string }>>;
    readonly aliases?: Readonly<Record<string, string>>;
  };
}

/** A command or a route map, and the words that name it. */
export interface FoundTarget {
  readonly path: readonly string[];
  readonly target: RoutingTarget;
}

/** Follows the leading words that name a command. */
export function findTarget(root: RoutingTarget, words: readonly string[]): FoundTarget {
  const [first = "", ...rest] = words;
  const next = root.getRoutingTargetForInput?.(first);
  if (next === undefined) return { path: [], target: root };
  const { path, target } = findTarget(next, rest);
  return { path: [first, ...path], target };
}

/** The positional arguments and the context among the arguments of a command. */
export function positionalsOf(
  { parameters }: RoutingTarget,
  words: readonly string[],
): { readonly positionals: readonly string[]; readonly contextName?: string } {
  const positionals: string[] = [];
  let contextName: string | undefined;
  for (let index = 0; index < words.length; index += 1) {
    const [word = "", next] = words.slice(index, index + 2);
    const { dashes, name = "", value } = /^(?<dashes>--?)(?<name>[\w-]+)(?:=(?<value>.*))?$/s.exec(word)?.groups ?? {};
    const flag = dashes === "-" ? (parameters?.aliases?.[name] ?? name) : camelCase(name);
    if (dashes === undefined) positionals.push(word);
    else if (flag === "context") contextName = value ?? next;
    const kind = parameters?.flags?.[flag]?.kind;
    if (dashes !== undefined && value === undefined && (kind === "parsed" || kind === "enum")) index += 1;
  }
  return { positionals, ...(contextName === undefined ? {} : { contextName }) };
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The commands of a route map, for an error about an unknown command. */
export function commandNames({ getAllEntries }: RoutingTarget): readonly string[] {
  const entries = getAllEntries?.() ?? [];
  return entries.filter(({ hidden }) => !hidden).map(({ name }) => name["convert-camel-to-kebab"]);
}

/**
 * Rewrites a command line for Stricli: global flags move behind the command, `help <command>` becomes
 * `<command> --help`, and `-ojson` becomes `-o json`.
 */
export function normalizeArguments(root: RoutingTarget, argv: readonly string[]): readonly string[] {
  const words = moveGlobalFlags(argv);
  const { path, target } = findTarget(root, words);
  return [...path, ...words.slice(path.length).flatMap((word) => splitShortFlag(word, target))];
}

function moveGlobalFlags(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  if (first === undefined) return ["--help"];
  if (first === "help") return [...rest, "--help"];
  if (/^--(?:context|output)=|^-o./.test(first) && rest.length > 0) return moveGlobalFlags([...rest, first]);
  const [value, ...command] = rest;
  const isApart = /^(?:--context|--output|-o)$/.test(first) && value !== undefined && command.length > 0;
  return isApart ? moveGlobalFlags([...command, first, value]) : argv;
}

/** Splits `-ojson`; Stricli reads it as five flags without values. */
function splitShortFlag(word: string, { parameters }: RoutingTarget): readonly string[] {
  const { short = "", value = "" } = /^-(?<short>[A-Za-z])(?<value>[^=].*)$/s.exec(word)?.groups ?? {};
  const kind = parameters?.flags?.[parameters.aliases?.[short] ?? ""]?.kind;
  return kind === "parsed" || kind === "enum" ? [`-${short}`, value] : [word];
}
