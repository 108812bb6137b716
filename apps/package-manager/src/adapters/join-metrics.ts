/** What one worker says of itself, in the text form of Prometheus. */
export interface WorkerMetrics {
  readonly worker: number;
  readonly text: string;
}

interface Family {
  readonly head: string[];
  readonly samples: string[];
}

const HELP = /^# HELP (?<name>\S+)/;
const SAMPLE = /^(?<name>[^\s{]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;

/**
 * The metrics of several workers as one text: each series has the label `worker`. They are not added up, because a sum would say
 * nothing of a gauge such as the state of a breaker. The lines of one metric stand together, as the form demands.
 */
export function joinMetrics(all: readonly WorkerMetrics[]): string {
  const families = new Map<string, Family>();
  for (const { worker, text } of all) {
    let family: Family = { head: [], samples: [] };
    for (const line of text.split("\n")) {
      const name = HELP.exec(line)?.groups?.["name"];
      if (name !== undefined) families.set(name, (family = families.get(name) ?? { head: [], samples: [] }));
      if (line.startsWith("#")) addOnce(family.head, line);
      else if (line !== "") family.samples.push(labelled(line, worker));
    }
  }
  return [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join("\n")}\n`).join("\n");
}

function addOnce(lines: string[], line: string): void {
  if (!lines.includes(line)) lines.push(line);
}

function labelled(line: string, worker: number): string {
  const { name, labels = "", value } = SAMPLE.exec(line)?.groups ?? {};
  const comma = labels === "" ? "" : ",";
  return name === undefined ? line : `${name}{${labels}${comma}worker="${worker}"} ${value}`;
}
