import type { Api } from "@oaas/kube-apiserver";

/** An API that tells what it was asked, what it answered, and every piece of a watch as it leaves. */
export function toldApi(api: Api, tell: (text: string) => void): Api {
  return {
    handle: async (request) => {
      const name = `${request.method} ${request.target}`;
      const response = await api.handle(request).catch((error: unknown) => {
        tell(`${name} lost`);
        throw error;
      });
      const { body } = response;
      if (typeof body === "string") {
        tell(`${name} ${response.status} ${body.trim()}`);
        return response;
      }
      tell(`${name} ${response.status} …`);
      return { ...response, body: told(body, name, tell) };
    },
  };
}

async function* told(
  chunks: AsyncIterable<string>,
  name: string,
  tell: (text: string) => void,
): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    tell(`${name} … ${chunk.trim()}`);
    yield chunk;
  }
}
