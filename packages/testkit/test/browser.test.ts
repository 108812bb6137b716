import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith, startBrowser, type BrowserUnderTest } from "../src/index.ts";

const PAGE = `<!doctype html><title>Test</title><button onclick="document.querySelector('p').textContent = 'clicked ' + location.port">go</button><p>not yet</p>`;

describeWith(["chromium"], "a real browser", () => {
  let browser: BrowserUnderTest;
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      response.setHeader("set-cookie", "seen=1");
      response.end(request.url === "/cookies" ? (request.headers.cookie ?? "none") : PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server.closeAllConnections();
    server.close();
  });

  it("renders a page from loopback and runs its script", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    expect(await page.title()).toBe("Test");
    await page.getByRole("button", { name: "go" }).click();
    expect(await page.textContent("p")).toBe(`clicked ${new URL(url).port}`);
    const picture = await page.screenshot();
    expect(picture.subarray(1, 4).toString()).toBe("PNG");
    await context.close();
  });

  it("isolates the profiles of contexts", async () => {
    const first = await browser.newContext();
    await (await first.newPage()).goto(url);
    const second = await browser.newContext();
    const page = await second.newPage();
    await page.goto(`${url}/cookies`);
    expect(await page.textContent("body")).toBe("none");
    await first.close();
    await second.close();
  });
});
