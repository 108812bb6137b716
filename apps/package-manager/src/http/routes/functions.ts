import { omitUndefined } from "@oaas/contracts/rest";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import type { ClusterLogLine, FunctionAccess } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import { clusterIn } from "./parameters.ts";

/** Handlers of the output and of trial invocations of functions. */
export function functionHandlers(functions: FunctionAccess): HandlersOf<"functions"> {
  return {
    streamDeploymentLogs: async ({ parameters, query, call }) => {
      const key = parameters["key"] as DeploymentKey;
      const { follow = false, previous = false } = query;
      const options = omitUndefined({
        cluster: clusterIn(query),
        functionKey: query.function,
        tailLines: query.tail_lines,
        sinceSeconds: query.since_seconds,
        contains: query.contains,
      });
      const batches = await functions.logs(key, { ...options, follow, previous }, call.signal);
      return { status: 200, events: eventTexts(batches) };
    },
    invokeFunction: async ({ parameters, body, call }) => {
      const { method = "", path = "", headers = {}, body: text = "", body_base64: encoded } = body;
      const cluster = body.cluster as ClusterName | undefined;
      const content = encoded === undefined ? Buffer.from(text) : Buffer.from(encoded, "base64");
      const request = { functionKey: parameters["function"] ?? "", method, path, headers, body: content };
      const response = await functions.invoke(
        parameters["key"] as DeploymentKey,
        request,
        omitUndefined({ cluster, signal: call.signal }),
      );
      const { status } = response;
      return json({ cluster: response.cluster, status, headers: response.headers, ...bodyToWire(response.body) });
    },
  };
}

/** One chunk for a batch of lines. A log has no positions to resume from, so events have no id. */
async function* eventTexts(batches: AsyncIterable<readonly ClusterLogLine[]>): AsyncGenerator<string> {
  for await (const lines of batches) {
    yield lines
      .map(({ cluster, pod, functionKey, at, text, isNotice }) =>
        JSON.stringify({ cluster, pod, function_key: functionKey, at, text, notice: isNotice }),
      )
      .map((data) => `event: line\ndata: ${data}\n\n`)
      .join("");
  }
}

function bodyToWire(bytes: Uint8Array): { readonly body: string | null; readonly body_base64: string | null } {
  try {
    return { body: new TextDecoder("utf-8", { fatal: true }).decode(bytes), body_base64: null };
  } catch {
    return { body: null, body_base64: Buffer.from(bytes).toString("base64") };
  }
}
