import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";

/** Flags by the variable they override; a value is undefined when the flag had no `=`. */
export interface Flags {
  readonly values: ReadonlyMap<string, string | undefined>;
  readonly violations: readonly Violation[];
}

/** What a program was started to do, and the flags left for `parseConfig`. */
export interface CommandLine {
  readonly mode: "run" | "help" | "print-config";
  readonly args: readonly string[];
}

/** Separates `--help` (`-h`) and `--print-config` from the flags that set variables. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const asksHelp = args.some((arg) => arg === "--help" || arg === "-h");
  const asksPrint = args.includes("--print-config");
  return {
    mode: asksHelp ? "help" : asksPrint ? "print-config" : "run",
    args: args.filter((arg) => arg !== "--help" && arg !== "-h" && arg !== "--print-config"),
  };
}

/** Reads `--http-port=8080` or `--HTTP_PORT=8080` as HTTP_PORT; of two the last counts. */
export function readFlags(args: readonly string[]): Flags {
  const values = new Map<string, string | undefined>();
  const violations: Violation[] = [];
  for (const [index, arg] of args.entries()) {
    const [, name, value] = /^--([A-Za-z][A-Za-z0-9_-]*)(?:=([^]*))?$/.exec(arg) ?? [];
    if (name === undefined) {
      // Not quoted: it may be a secret that followed its flag.
      violations.push({
        path: pathOf(ROOT_PATH, "arguments", index),
        message: "is no flag",
        fix: "write --name=value",
      });
    } else {
      values.set(name.toUpperCase().replaceAll("-", "_"), value);
    }
  }
  return { values, violations };
}

/** A variable as a flag: HTTP_PORT is --http-port. */
export function flagOf(variable: string): string {
  return `--${variable.toLowerCase().replaceAll("_", "-")}`;
}
