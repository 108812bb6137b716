import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { ROOT } from "../../../tools/tasks/root.ts";

/** A service of the Compose file, as far as it is used. */
export interface ComposeService {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, object>>;
}

/** Reads the Compose file with the given variables; the others have their defaults. */
export function readCompose(variables: Readonly<Record<string, string>> = {}): ComposeFile {
  const text = readFileSync(path.join(ROOT, "deploy", "compose", "compose.yaml"), "utf8");
  const filled = text.replaceAll(/\$\{(?<name>\w+):-(?<fallback>[^}]*)\}/g, (...found) => {
    const { name = "", fallback = "" } = found.at(-1) as Readonly<Record<string, string>>;
    return variables[name] ?? fallback;
  });
  return parse(filled, { merge: true }) as ComposeFile;
}

/** The settings of a systemd unit by section; a setting can occur several times. */
export function readUnit(name: string): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(path.join(ROOT, "deploy", "systemd", name), "utf8");
  const lines = [...text.matchAll(/^(?<key>\w+)=(?<value>.*)$/gm)].map(({ groups = {} }) => groups);
  return new Map(
    [...Map.groupBy(lines, ({ key = "" }) => key)].map(([key, found]) => [key, found.map(({ value = "" }) => value)]),
  );
}
