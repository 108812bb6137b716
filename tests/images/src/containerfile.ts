/** The last stage of an image in a Containerfile, with the settings of its instructions. */
export interface Stage {
  readonly name: string;
  readonly from: string;
  readonly copies: readonly string[];
  readonly runs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly user: string | undefined;
  readonly workingDir: string | undefined;
  readonly entrypoint: readonly string[] | undefined;
}

type Instruction = readonly [name: string, value: string];

/** Reads the instructions that our Containerfile uses; rejects others, because their effect would not be compared. */
export function readStages(text: string): readonly Stage[] {
  const instructions = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line): Instruction => {
      const [, name = "", value = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
      return [name, value];
    });
  const starts = instructions.flatMap(([name], index) => (name === "FROM" ? [index] : []));
  return starts.map((start, at) => readStage(instructions.slice(start, starts[at + 1])));
}

const KNOWN = new Set(["FROM", "ARG", "COPY", "RUN", "ENV", "LABEL", "EXPOSE", "USER", "WORKDIR", "ENTRYPOINT"]);

function readStage(instructions: readonly Instruction[]): Stage {
  const unknown = instructions.filter(([name]) => !KNOWN.has(name)).map(([name]) => name);
  if (unknown.length > 0) throw new Error(`unknown instruction ${unknown.join(", ")}`);
  const all = (wanted: string): readonly string[] =>
    instructions.filter(([name]) => name === wanted).map(([, value]) => value);
  const [from = ""] = all("FROM");
  const [entrypoint] = all("ENTRYPOINT");
  return {
    name: / AS (?<name>\S+)$/.exec(from)?.groups?.["name"] ?? "",
    from: from.replace(/ AS \S+$/, ""),
    copies: all("COPY"),
    runs: all("RUN"),
    env: pairs(all("ENV")),
    labels: pairs(all("LABEL")),
    ports: all("EXPOSE"),
    user: all("USER").at(-1),
    workingDir: all("WORKDIR").at(-1),
    entrypoint: entrypoint === undefined ? undefined : (JSON.parse(entrypoint) as readonly string[]),
  };
}

function pairs(values: readonly string[]): Readonly<Record<string, string>> {
  const found = values.flatMap((value) => [...value.matchAll(/(?<name>[\w.]+)=(?:"(?<quoted>[^"]*)"|(?<plain>\S+))/g)]);
  return Object.fromEntries(
    found.map(({ groups = {} }) => [groups["name"] ?? "", groups["quoted"] ?? groups["plain"] ?? ""]),
  );
}
