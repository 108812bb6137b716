const TIMEOUT_MS = 5_000;

/** The JSON document at a URL; rejects when there is none in time. */
export async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}
