import type { Api } from "@oaas/kube-apiserver";

/** Records every request, response and watch chunk of an API. */
export function createRecordingApi(api: Api, record: (text: string) => void): Api {
  return {
    handle: async (request) => {
      const name = `${request.method} ${request.target}`;
      const response = await api.handle(request).catch((error: unknown) => {
        record(`${name} lost`);
        throw error;
      });
      const { body } = response;
      if (typeof body === "string") {
        record(`${name} ${response.status} ${body.trim()}`);
        return response;
      }
      record(`${name} ${response.status} …`);
      return { ...response, body: recordChunks(body, name, record) };
    },
  };
}

async function* recordChunks(
  chunks: AsyncIterable<string | Uint8Array>,
  name: string,
  record: (text: string) => void,
): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of chunks) {
    record(`${name} … ${String(chunk).trim()}`);
    yield chunk;
  }
}
