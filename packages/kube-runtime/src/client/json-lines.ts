import { unavailable } from "@oaas/foundation";

/** A line this long is no watch event: Kubernetes objects end at 1.5 MiB by default, so the stream is broken or hostile. */
const LONGEST_LINE = 32 * 1024 * 1024;

/**
 * The lines of a stream of bytes, each as text.
 *
 * Guarantees: a line is given whole or not at all: a stream that ends in the middle of one throws unavailable. Memory is bounded
 * by the longest line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // A character may be cut between chunks, so the decoder must keep state; it never sees a cut line end, which is one byte.
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
    if (rest.length > LONGEST_LINE) throw unavailable("watch", "the stream sent a line that never ends");
  }
  rest += decoder.decode();
  if (rest.trim() !== "") throw unavailable("watch", "the stream broke off in the middle of a line");
}
