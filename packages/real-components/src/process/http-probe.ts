import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** A complete response. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: string;
}

export interface ProbeOptions {
  readonly ca?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: Uint8Array | string;
  readonly timeoutMs?: number;
}

/** Sends one request on a new connection, so that no connection pool outlives the component. */
export function probe(url: string, options: ProbeOptions = {}): Promise<ProbeAnswer> {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const { ca, headers, method = "GET", body, timeoutMs = 5_000 } = options;
    const sent = send(url, {
      method,
      agent: false,
      headers: { ...headers },
      timeout: timeoutMs,
      ...(ca ? { ca } : {}),
    });
    sent.on("timeout", () => sent.destroy(new Error(`no response from ${url} within ${timeoutMs} ms`)));
    sent.on("error", reject);
    sent.on("response", (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
      );
    });
    sent.end(body);
  });
}
