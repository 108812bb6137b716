import { failedPrecondition } from "@oaas/foundation";
import type { PrometheusResponse } from "./transport.ts";

/** Reads a body as text, and stops reading above `maxBytes`. */
export async function readBody(response: PrometheusResponse, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of response.chunks()) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const mebibytes = Math.max(1, Math.round(maxBytes / 1024 / 1024));
      throw failedPrecondition(
        "response size",
        `the response is larger than ${mebibytes} MiB; query a shorter range, a larger step or fewer series`,
      );
    }
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join("");
}
