import type { BrowserUnderTest } from "@oaas/testkit";

type Context = Awaited<ReturnType<BrowserUnderTest["newContext"]>>;
type Page = Awaited<ReturnType<Context["newPage"]>>;
type Session = Awaited<ReturnType<Context["newCDPSession"]>>;

/** What a page keeps after a garbage collection. */
export interface PageMemory {
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** A page of the console, and what Chromium measures about it. */
export interface OpenedConsole extends AsyncDisposable {
  readonly page: Page;
  /** Events of the stream that have arrived. */
  events(): number;
  memory(): Promise<PageMemory>;
  /** CPU time of the page's process so far, compilation and painting included. */
  cpuMs(): Promise<number>;
  /** From the input to the next paint, for each key since the last call. */
  interactionsMs(): Promise<readonly number[]>;
}

/**
 * From an input to the end of the frame that follows: a message that a frame posts is received when it has been painted.
 * The Event Timing API counts in steps of 8 ms and reports nothing below 16 ms; this clock has steps of 0.1 ms.
 */
const OBSERVE = `
  globalThis.interactions = [];
  addEventListener("keydown", ({ key }) => {
    if (key === "Control") return;
    const start = performance.now();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        globalThis.interactions.push(performance.now() - start);
      };
      port2.postMessage(0);
    });
  }, true);
`;

/** Opens a page of the console in a profile of its own, and waits until `text` is shown. */
export async function openConsole(chromium: BrowserUnderTest, url: string, text: string): Promise<OpenedConsole> {
  const context = await chromium.newContext();
  const page = await context.newPage();
  await page.addInitScript(OBSERVE);
  const session = await context.newCDPSession(page);
  const browser = await chromium.browser.newBrowserCDPSession();
  let events = 0;
  session.on("Network.eventSourceMessageReceived", () => (events += 1));
  await session.send("Network.enable");
  await session.send("Performance.enable");
  await page.goto(url);
  await page.locator("main").getByText(text).first().waitFor();
  return {
    page,
    events: () => events,
    memory: () => readMemory(session),
    cpuMs: async () => {
      const { processInfo } = await browser.send("SystemInfo.getProcessInfo");
      const renderers = processInfo.filter(({ type }) => type === "renderer");
      return renderers.reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0);
    },
    interactionsMs: () => page.evaluate("globalThis.interactions.splice(0)"),
    [Symbol.asyncDispose]: async () => {
      await browser.detach();
      await context.close();
    },
  };
}

async function readMemory(session: Session): Promise<PageMemory> {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const valueOf = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { heapBytes: valueOf("JSHeapUsedSize"), nodes: valueOf("Nodes"), listeners: valueOf("JSEventListeners") };
}
