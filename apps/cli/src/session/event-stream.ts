import type { Session } from "./session.ts";

/** The data of each server-sent event of a route, until the stream ends. */
export async function* readEventStream<T>(
  session: Session,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncIterable<T> {
  const { pmUrl, token } = await session.context();
  const parameters = new URLSearchParams(query);
  const url = `${pmUrl}/api/v1${path}${parameters.size === 0 ? "" : `?${parameters.toString()}`}`;
  const headers = { accept: "text/event-stream", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  let rest = "";
  for await (const text of session.environment.stream(url, headers, session.environment.signal)) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const data of blocks.map(eventData)) if (data !== undefined) yield JSON.parse(data) as T;
  }
}

/** The data of one event; keep-alive comments have none. */
function eventData(block: string): string | undefined {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? undefined : lines.map((line) => line.slice("data:".length).trimStart()).join("\n");
}
