import type { Page, Request } from "playwright-core";
import { expect } from "vitest";

/** What a page may ask the API for, whatever is deployed. */
const MAX_REQUESTS = 5;
const MAX_BYTES = 100_000;

/** What a page asked the API for. */
export interface PageRequests {
  /** Different addresses, streams included: an event refreshes what is shown with the same requests. */
  readonly requests: readonly string[];
  /** Of the bodies, without those of streams. */
  readonly bytes: number;
}

/**
 * What a page asks the API for, until `act` is done. The browser itself counts the bytes: a body can no longer be read
 * over the protocol once the page has given up its request.
 */
export async function recordRequests(page: Page, act: () => Promise<void>): Promise<PageRequests> {
  const requests = new Set<string>();
  const streams = new Set<string>();
  const add = (request: Request): void => {
    if (!new URL(request.url()).pathname.startsWith("/api/")) return;
    requests.add(request.url());
    if (request.resourceType() === "eventsource") streams.add(request.url());
  };
  await page.evaluate(() => performance.clearResourceTimings());
  page.on("request", add);
  await act();
  page.off("request", add);
  const ended = [...requests].filter((url) => !streams.has(url));
  const sizes = await page.waitForFunction((urls) => {
    const entries = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
    const bytes = new Map(entries.map(({ name, decodedBodySize }) => [name, decodedBodySize]));
    return urls.every((url) => bytes.has(url)) && urls.map((url) => bytes.get(url) ?? 0);
  }, ended);
  const bytes = ((await sizes.jsonValue()) as number[]).reduce((sum, size) => sum + size, 0);
  return { requests: [...requests], bytes };
}

export function expectFewRequests({ requests, bytes }: PageRequests, maxRequests = MAX_REQUESTS): void {
  const asked = requests.join(" ");
  expect(requests.length, asked).toBeLessThanOrEqual(maxRequests);
  expect(bytes, asked).toBeGreaterThan(0);
  expect(bytes, asked).toBeLessThan(MAX_BYTES);
}
