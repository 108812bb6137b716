import { abortFault, failedPrecondition, Fault, unavailable, type Clock } from "@oaas/foundation";
import { fileSource, type TextSource } from "@oaas/foundation/files";
import { Agent, type Dispatcher } from "undici";
import type { PrometheusRequest, PrometheusResponse, PrometheusTransport } from "../transport.ts";

export interface UndiciTransportOptions {
  readonly clock: Clock;
  /** Certificate authorities of the server, PEM. Default: the public ones. Files are reloaded when they change. */
  readonly caFile?: string | undefined;
  /** Client certificate and its key, PEM. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
}

interface Connections {
  readonly madeWith: string;
  readonly agent: Agent;
}

/** The transport over sockets. New certificates take effect with the next request. */
export function createUndiciTransport(options: UndiciTransportOptions): PrometheusTransport {
  const sourceOf = (file: string | undefined): TextSource | undefined =>
    file === undefined ? undefined : fileSource(file, options.clock);
  const [ca, cert, key] = [options.caFile, options.certFile, options.keyFile].map(sourceOf);
  let connections: Connections | undefined;

  const agentFor = (): Agent => {
    const tls = { ca: ca?.read(), cert: cert?.read(), key: key?.read() };
    const madeWith = JSON.stringify(tls);
    if (connections?.madeWith === madeWith) return connections.agent;
    // Running requests finish on the old connections.
    void connections?.agent.close();
    connections = { madeWith, agent: makeAgent(tls, options.connectTimeoutMs ?? 5_000) };
    return connections.agent;
  };

  return {
    send: async (request) => {
      const { origin, pathname, search } = new URL(request.url);
      try {
        const response = await agentFor().request({
          origin,
          path: pathname + search,
          method: request.method,
          headers: { ...request.headers },
          signal: request.signal,
          ...(request.body === undefined ? {} : { body: request.body }),
        });
        return responseOf(response, request, origin);
      } catch (error) {
        throw connectionFault(error, origin, request.signal);
      }
    },
    close: async () => {
      const last = connections;
      connections = undefined;
      await last?.agent.destroy();
    },
  };
}

type TlsTexts = Readonly<Record<"ca" | "cert" | "key", string | undefined>>;

function makeAgent({ ca, cert, key }: TlsTexts, connectTimeoutMs: number): Agent {
  return new Agent({
    allowH2: false,
    // Callers set deadlines by their signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    connections: 8,
    connect: {
      timeout: connectTimeoutMs,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
  });
}

function responseOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { signal }: PrometheusRequest,
  origin: string,
): PrometheusResponse {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) flat[name] = [value].flat().join(", ");
  return {
    status: statusCode,
    headers: flat,
    chunks: async function* () {
      try {
        for await (const chunk of body) yield chunk as Uint8Array;
      } catch (error) {
        throw connectionFault(error, origin, signal);
      } finally {
        body.destroy();
      }
    },
  };
}

const CERTIFICATE_ERRORS = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/;

function connectionFault(error: unknown, origin: string, signal: AbortSignal): Fault {
  if (error instanceof Fault) return error;
  if (signal.aborted) return abortFault(signal);
  const { code, message } = error as NodeJS.ErrnoException;
  const options = { cause: error, context: { code } };
  if (code !== undefined && CERTIFICATE_ERRORS.test(code)) {
    const fix = "check the certificate authority and the client certificate";
    return failedPrecondition(origin, `no trusted connection to ${origin} (${code}: ${message}); ${fix}`, options);
  }
  return unavailable(origin, `cannot reach ${origin} (${code ?? message})`, options);
}
