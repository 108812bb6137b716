/** The metrics of one worker, in the Prometheus text format or in OpenMetrics. */
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
/** The trace of an observation, behind its sample. */
const EXEMPLAR = / # \{trace_id="[0-9a-f]{32}",span_id="[0-9a-f]{16}"\} \S+ \S+$/;
/** The end of an OpenMetrics document, which has no empty lines. */
const END = "# EOF";

/**
 * Joins the metrics of several workers: each series gets the label `worker`. They are not summed, because a sum of gauges, such as breaker
 * states, has no meaning. The format requires the lines of one metric to be adjacent.
 */
export function joinMetrics(all: readonly WorkerMetrics[]): string {
  const families = new Map<string, Family>();
  let isOpenMetrics = false;
  for (const { worker, text } of all) {
    let family: Family = { head: [], samples: [] };
    for (const line of text.split("\n")) {
      if (line === END) {
        isOpenMetrics = true;
        continue;
      }
      const name = HELP.exec(line)?.groups?.["name"];
      if (name !== undefined) families.set(name, (family = families.get(name) ?? { head: [], samples: [] }));
      if (line.startsWith("#")) addOnce(family.head, line);
      else if (line !== "") family.samples.push(labelled(line, worker));
    }
  }
  const texts = [...families.values()].map(({ head, samples }) => `${[...head, ...samples].join("\n")}\n`);
  return isOpenMetrics ? `${texts.join("")}${END}\n` : texts.join("\n");
}

function addOnce(lines: string[], line: string): void {
  if (!lines.includes(line)) lines.push(line);
}

function labelled(line: string, worker: number): string {
  const [exemplar = ""] = EXEMPLAR.exec(line) ?? [];
  const sample = line.slice(0, line.length - exemplar.length);
  const { name, labels = "", value } = SAMPLE.exec(sample)?.groups ?? {};
  const comma = labels === "" ? "" : ",";
  return name === undefined ? line : `${name}{${labels}${comma}worker="${worker}"} ${value}${exemplar}`;
}
