import { failedPrecondition, unavailable } from "@oaas/foundation";
import type { FormRequest } from "../access/oidc.ts";

const TIMEOUT_MS = 5_000;

/** Fetches a JSON document, or posts a form and reads the JSON of the response; rejects after the timeout. */
export async function fetchJson(url: string, post?: FormRequest): Promise<unknown> {
  const response = await fetch(url, {
    ...(post && {
      method: "POST",
      body: new URLSearchParams(post.form),
      headers: { accept: "application/json", ...(post.authorization && { authorization: post.authorization }) },
    }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: "error",
  });
  if (response.ok) return response.json();
  await response.body?.cancel();
  const message = `${url} answered ${response.status}`;
  throw response.status < 500 ? failedPrecondition(url, message) : unavailable(url, message);
}
