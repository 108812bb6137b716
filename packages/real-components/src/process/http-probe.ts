import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

/** An answer, read to its end. */
export interface ProbeAnswer {
  readonly status: number;
  readonly body: string;
}

/** What a probe may present: an authority to trust, a client certificate, headers. */
export interface ProbeOptions {
  readonly ca?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  readonly body?: Uint8Array | string;
  readonly timeoutMs?: number;
}

/** One request on a connection of its own, so that no pool outlives the component. */
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
    sent.on("timeout", () => sent.destroy(new Error(`no answer from ${url} within ${timeoutMs} ms`)));
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
