import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";

/** Flags by the variable they override. A value is undefined when the flag has no `=`. */
export interface Flags {
  readonly values: ReadonlyMap<string, string | undefined>;
  readonly violations: readonly Violation[];
}

/** Mode of the program, and the remaining flags for `parseConfig`. */
export interface CommandLine {
  readonly mode: "run" | "help" | "print-config" | "validate" | "validate-help";
  readonly args: readonly string[];
}

/**
 * Separates the command `config validate [FILE]`, `--help` (`-h`) and `--print-config` from the flags that set
 * variables.
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const hasHelp = args.some((arg) => arg === "--help" || arg === "-h");
  if (args[0] === "config") return readConfigCommand(args.slice(1), hasHelp);
  const hasPrintConfig = args.includes("--print-config");
  return {
    mode: hasHelp ? "help" : hasPrintConfig ? "print-config" : "run",
    args: args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "--print-config"),
  };
}

/** `validate FILE` is `validate --config FILE`. Anything else shows the help of the command. */
function readConfigCommand([command, ...rest]: readonly string[], hasHelp: boolean): CommandLine {
  if (hasHelp || command !== "validate")
    return { mode: "validate-help", args: hasHelp ? [] : [command ?? "without a subcommand"] };
  const [file] = rest;
  const isFile = file !== undefined && !file.startsWith("--");
  return { mode: "validate", args: isFile ? ["--config", file, ...rest.slice(1)] : rest };
}

/**
 * Parses `--http-port=8080`, `--http-port 8080` or `--HTTP_PORT=8080` as HTTP_PORT. The last of several wins. A flag for
 * which `isSwitch` is true takes its value only with `=`.
 */
export function readFlags(args: readonly string[], isSwitch: (variable: string) => boolean): Flags {
  const values = new Map<string, string | undefined>();
  const violations: Violation[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const [, name, value] = /^--([A-Za-z][A-Za-z0-9_-]*)(?:=([^]*))?$/.exec(args[index] ?? "") ?? [];
    if (name === undefined) {
      // Not printed: it may be the secret value of the preceding flag.
      violations.push({
        path: pathOf(ROOT_PATH, "arguments", index),
        message: "is not a flag",
        fix: "use --name=value or --name value",
      });
      continue;
    }
    const variable = variableOf(name);
    const next = args[index + 1];
    const isValueNext = value === undefined && next?.startsWith("--") === false && !isSwitch(variable);
    values.set(variable, isValueNext ? next : value);
    if (isValueNext) index += 1;
  }
  return { values, violations };
}

function variableOf(flag: string): string {
  return flag.toUpperCase().replaceAll("-", "_");
}

/** Returns the flag of a variable: HTTP_PORT is --http-port. */
export function flagOf(variable: string): string {
  return `--${variable.toLowerCase().replaceAll("_", "-")}`;
}
