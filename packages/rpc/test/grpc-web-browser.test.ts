import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { DeploymentService, type WatchClassRuntimesRequest } from "@oaas/contracts/grpc";
import { describeWith, startBrowser, type BrowserUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve, type Serving } from "./serving.ts";
import { framed, unframed } from "./web-client.ts";

/** Client code of a web page with the standard fetch. Reads the given number of bytes, or to the end. */
const CALL = `async ({ url, body, atLeast }) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", "x-grpc-web": "1", "x-correlation-id": "from-a-page" },
    body: new Uint8Array(body),
  });
  const bytes = [];
  const reader = response.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes.push(...next.value);
    if (atLeast && bytes.length >= atLeast) { await reader.cancel(); break; }
  }
  return { status: response.status, correlationId: response.headers.get("x-correlation-id"), bytes };
}`;

interface PageAnswer {
  readonly status: number;
  readonly correlationId: string | null;
  readonly bytes: number[];
}

describeWith(["chromium"], "gRPC-Web from a page", () => {
  let chromium: BrowserUnderTest;
  let serving: Serving;
  let pages: Server;
  const originOf = (host: string): string => `http://${host}:${(pages.address() as AddressInfo).port}`;

  beforeAll(async () => {
    pages = createServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>a page"),
    );
    await new Promise<void>((resolve) => void pages.listen(0, "127.0.0.1", resolve));
    serving = await serve({ webOrigins: [originOf("localhost")] });
    chromium = await startBrowser();
  });
  afterAll(async () => {
    await chromium.close();
    await serving.onePort.close(500);
    pages.close();
  });

  const callFrom = async (origin: string, method: string, body: Buffer, atLeast?: number): Promise<PageAnswer> => {
    const context = await chromium.newContext();
    try {
      const page = await context.newPage();
      await page.goto(origin);
      const url = `http://127.0.0.1:${serving.port}/${DeploymentService.typeName}/${method}`;
      // A text that is evaluated in the page: nothing of this process exists there.
      return await page.evaluate(`(${CALL})(${JSON.stringify({ url, body: [...body], atLeast })})`);
    } finally {
      await context.close();
    }
  };
  const { deploy, watchClassRuntimes } = DeploymentService.method;

  test("makes a unary call after a preflight request", async () => {
    const response = await callFrom(
      originOf("localhost"),
      "Deploy",
      framed(deploy.input, { deploymentUnit: { id: "page" } }),
    );
    const { messages, trailers } = unframed(Buffer.from(response.bytes));
    expect(fromBinary(deploy.output, messages[0]!).deploymentId).toBe("page");
    expect(trailers.get("grpc-status")).toBe("0");
    expect(response.correlationId).toBe("from-a-page");
  });

  test("streams messages until the page closes", async () => {
    const request: Partial<WatchClassRuntimesRequest> = {};
    const response = await callFrom(
      originOf("localhost"),
      "WatchClassRuntimes",
      framed(watchClassRuntimes.input, request),
      24,
    );
    const { messages } = unframed(Buffer.from(response.bytes));
    const tokens = messages.map((message) => fromBinary(watchClassRuntimes.output, message).resumeToken);
    expect(tokens).toEqual(["0", "1", "2"]);
    await expect.poll(() => serving.received.aborted, { timeout: 30_000 }).toContain("watch ended");
  });

  test("rejects a page of another origin before the handler", async () => {
    const before = serving.received.deployed.length;
    const call = callFrom(originOf("127.0.0.1"), "Deploy", framed(deploy.input, {}));
    await expect(call).rejects.toThrow(/Failed to fetch/);
    expect(serving.received.deployed).toHaveLength(before);
  });
});
