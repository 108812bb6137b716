const TIMEOUT_MS = 5_000;

/** Fetches a JSON document; rejects after the timeout. */
export async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}
