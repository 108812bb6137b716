/** One line of output, with its time. */
export interface TimedLine {
  readonly at: string;
  readonly text: string;
}

/** A line without an end is cut here, so that a container cannot fill the memory. */
const MAX_LINE_BYTES = 64 * 1024;

/** Splits the log of a container, read with timestamps, into batches of lines. */
export async function* readTimedLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly TimedLine[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_BYTES) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) yield lines.map(splitTime);
  }
  rest += decoder.decode();
  if (rest !== "") yield [splitTime(rest)];
}

function splitTime(line: string): TimedLine {
  const [, at = "", text = line] = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/s.exec(line) ?? [];
  return { at, text };
}
