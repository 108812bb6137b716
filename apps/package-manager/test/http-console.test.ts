import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPm, type PmUnderTest } from "./running-pm.ts";

const SCRIPT = `export const hello = "${"world ".repeat(200)}";\n`;
const PAGE = '<!doctype html><html><head><script type="module" src="/assets/index-a1b2c3.js"></script></head></html>';

let folder: string;
let pm: PmUnderTest;

/** A request whose path and encoding are sent as they are. */
async function send(target: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const sent = request({ host: "127.0.0.1", port: pm.app.port, method, path: target, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return {
    status: response.statusCode as number,
    headers: response.headers as Record<string, string | undefined>,
    body,
    text: body.toString(),
  };
}

const html = { accept: "text/html,application/xhtml+xml" };

beforeAll(async () => {
  const base = mkdtempSync(path.join(tmpdir(), "console-"));
  writeFileSync(path.join(base, "secret.txt"), "outside");
  folder = path.join(base, "dist");
  mkdirSync(path.join(folder, "assets"), { recursive: true });
  writeFileSync(path.join(folder, "index.html"), PAGE);
  writeFileSync(path.join(folder, "favicon.svg"), "<svg/>");
  writeFileSync(path.join(folder, "assets/index-a1b2c3.js"), SCRIPT);
  writeFileSync(path.join(folder, "assets/index-a1b2c3.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(path.join(folder, "assets/index-a1b2c3.js.gz"), gzipSync(SCRIPT));
  symlinkSync(path.join(base, "secret.txt"), path.join(folder, "assets/link.txt"));
  pm = await startPm({ env: { CONSOLE_DIR: folder } });
});
afterAll(async () => {
  await pm.close();
  rmSync(path.dirname(folder), { recursive: true });
});

describe("the console", () => {
  test("is served at / with a strict policy, and revalidated by its ETag", async () => {
    const page = await send("/", html);
    expect([page.status, page.text]).toEqual([200, PAGE]);
    expect(page.headers["cache-control"]).toBe("no-cache");
    const policy = page.headers["content-security-policy"] ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.headers["x-content-type-options"]).toBe("nosniff");
    const again = await send("/", { ...html, "if-none-match": String(page.headers["etag"]) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await send("/", { ...html, "if-none-match": '"other"' })).status).toBe(200);
  });

  test("answers HEAD with the headers of GET and no body", async () => {
    const [got, head] = [await send("/", html), await send("/", html, "HEAD")];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers["content-length"]).toBe(got.headers["content-length"]);
    expect(head.headers["etag"]).toBe(got.headers["etag"]);
  });

  test.each([
    { accepts: undefined, encoding: undefined, decode: (body: Buffer) => body },
    { accepts: "gzip, br", encoding: "br", decode: brotliDecompressSync },
    { accepts: "gzip", encoding: "gzip", decode: gunzipSync },
    { accepts: "br;q=0, gzip;q=0.5", encoding: "gzip", decode: gunzipSync },
    { accepts: "identity, br;q=0", encoding: undefined, decode: (body: Buffer) => body },
  ])("sends the compressed file that $accepts accepts, cached for good", async ({ accepts, encoding, decode }) => {
    const found = await send("/assets/index-a1b2c3.js", accepts === undefined ? {} : { "accept-encoding": accepts });
    expect([found.status, found.headers["content-encoding"]]).toEqual([200, encoding]);
    expect(decode(found.body).toString()).toBe(SCRIPT);
    expect(found.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(found.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(found.headers["vary"]).toBe("accept-encoding");
  });

  test("answers addresses of its pages with the page, so that links and reloads work", async () => {
    for (const target of ["/deployments", "/deployments/a.b%2Fc?tab=events", "/console", "/sign-in"]) {
      const page = await send(target, html);
      expect([target, page.status, page.text]).toEqual([target, 200, PAGE]);
    }
  });

  test.each(["/api/v1/nothing", "/api", "/assets/missing.js", "/docs/x", "/metrics/x", "/readyz/x"])(
    "does not hide the error of %s",
    async (target) => {
      const answer = await send(target, html);
      expect([answer.status, answer.headers["content-type"]]).toEqual([
        404,
        expect.stringMatching(/^application\/problem\+json/),
      ]);
    },
  );

  test("leaves programs and the API alone", async () => {
    expect((await send("/deployments", { accept: "application/json" })).status).toBe(404);
    expect((await send("/deployments", {})).status).toBe(404);
    expect((await send("/", html, "POST")).status).toBe(405);
    expect((await send("/favicon.svg", {})).headers["content-type"]).toBe("image/svg+xml");
    expect(JSON.parse((await send("/api/v1/packages")).text)).toEqual([]);
    for (const target of ["/docs", "/openapi.json", "/health", "/readyz", "/metrics"])
      expect([target, (await send(target, html)).text === PAGE]).toEqual([target, false]);
  });

  test.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/assets/../../secret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/assets/..%5c..%5csecret.txt",
    "//secret.txt",
    "/assets/link.txt",
    "/assets/index-a1b2c3.js%00.txt",
    "/%c0%ae%c0%ae/secret.txt",
    "/assets/index-a1b2c3.js.br",
    "/assets/",
  ])("serves nothing but its files: %s", async (target) => {
    const answer = await send(target);
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toContain("outside");
  });
});

test("gives style elements a new nonce in each response when the page asks for one", async () => {
  const own = mkdtempSync(path.join(tmpdir(), "console-"));
  writeFileSync(path.join(own, "index.html"), '<meta property="csp-nonce" nonce="__CSP_NONCE__">');
  await using nonced = await startPm({ env: { CONSOLE_DIR: own } });
  const [first, second] = [await nonced.call("GET", "/"), await nonced.call("GET", "/")];
  const nonceOf = (text: string): string => /nonce="([^"]+)"/.exec(text)?.[1] ?? "";
  expect(nonceOf(first.text)).toMatch(/^[\w+/]{24}$/);
  expect(nonceOf(second.text)).not.toBe(nonceOf(first.text));
  const policy = first.headers.get("content-security-policy");
  expect(policy).toContain(`style-src 'self' 'nonce-${nonceOf(first.text)}'`);
  expect(policy).toContain("script-src 'self';");
  expect(first.headers.get("cache-control")).toBe("no-store");
  expect(first.headers.get("etag")).toBeNull();
  rmSync(own, { recursive: true });
});

test("redirects / to the reference without a console", async () => {
  await using plain = await startPm();
  const root = await plain.call("GET", "/", { headers: html });
  expect([root.status, root.headers.get("location")]).toEqual([302, "/docs"]);
  expect((await plain.call("GET", "/deployments", { headers: html })).status).toBe(404);
});

test.each(["/nowhere/console", tmpdir()])("refuses to start with a CONSOLE_DIR without a console: %s", async (dir) => {
  await expect(startPm({ env: { CONSOLE_DIR: dir } })).rejects.toThrow(/CONSOLE_DIR.*build the console/s);
});
