import { unavailable } from "@oaas/foundation";

/**
 * No watch event is longer: Kubernetes objects are limited to 1.5 MiB by default, so the stream is broken or hostile.
 */
const LONGEST_LINE = 32 * 1024 * 1024;

/**
 * Splits a byte stream into lines.
 *
 * Guarantees: only complete lines are returned; a stream that ends inside a line throws unavailable. Memory is bounded
 * by the longest line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // A character may be split between chunks, so the decoder keeps state; a line end is one byte and is never split.
  const decoder = new TextDecoder("utf-8", { fatal: false });
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n", from)) {
      if (end > from) yield rest.slice(from, end);
      from = end + 1;
    }
    if (from > 0) rest = rest.slice(from);
    if (rest.length > LONGEST_LINE) throw unavailable("watch", "the stream sent a line over the length limit");
  }
  rest += decoder.decode();
  if (rest.trim() !== "") throw unavailable("watch", "the stream ended in the middle of a line");
}
