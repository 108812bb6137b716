import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { runCommand } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startStack, stopStack, type StackProcess } from "../../../apps/dev-stack/test/stack-process.ts";
import { GOOD_DEPLOYMENT, GOOD_PACKAGE, MISTAKES, PAGE_ADDRESSES, type Mistake } from "../src/mistakes.ts";
import { ROOT } from "../src/pages.ts";

const CLI = path.join(ROOT, "apps", "cli", "src", "main.ts");
const STACK = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");
const WEB_SITE = "<!doctype html><html><head><title>Welcome</title></head></html>";

/** Makes each mistake of the troubleshooting page with the real CLI, a package manager and embedded clusters. */
describe("mistakes of the troubleshooting page", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-mistakes-"));
  let stack: StackProcess;
  let site: Server;
  /** Addresses on the page and those of this test. */
  let addresses: readonly (readonly [onPage: string, here: string])[] = [];

  beforeAll(async () => {
    stack = await startStack(path.join(folder, "data"), ["--clusters=1"]);
    site = createServer((_, response) => response.writeHead(200, { "content-type": "text/html" }).end(WEB_SITE));
    await once(site.listen(0, "127.0.0.1"), "listening");
    addresses = [
      [PAGE_ADDRESSES.packageManager, new URL(stack.url).host],
      [PAGE_ADDRESSES.statusPage, new URL(stack.page_url).host],
      [PAGE_ADDRESSES.apiServer, new URL(stack.clusters[0]?.apiUrl ?? "").host],
      [PAGE_ADDRESSES.webSite, `127.0.0.1:${(site.address() as AddressInfo).port}`],
      [
        `--server-port=${new URL(`http://${PAGE_ADDRESSES.packageManager}`).port}`,
        `--server-port=${new URL(stack.url).port}`,
      ],
    ];
    // Two revisions, so that there is one to go back to.
    for (const hint of ["dev", "edge"]) {
      const file = `${GOOD_PACKAGE}---\n${GOOD_DEPLOYMENT}template_hint: ${hint}\n`;
      const applied = await make({ input: "", file, prints: "", fix: "", exitCode: 0 });
      expect(applied.exitCode, applied.stderr).toBe(0);
    }
  });
  afterAll(async () => {
    site?.close();
    await stopStack(stack, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });

  const here = (text: string): string =>
    addresses.reduce((all, [onPage, address]) => all.replaceAll(onPage, address), text);

  /** Runs the command of a mistake in a folder of its own. */
  async function make({ file, run = "oaas apply -f demo.yaml", address }: Mistake) {
    const cwd = mkdtempSync(path.join(folder, "case-"));
    if (file !== undefined) writeFileSync(path.join(cwd, "demo.yaml"), file);
    const words = here(run).split(" ");
    const isStart = words[0] === "npm";
    mkdirSync(path.join(cwd, "home"));
    return runCommand(
      process.execPath,
      isStart ? [STACK, ...words.slice(3), "--oaas-stack-page-port=0"] : [CLI, ...words.slice(1)],
      {
        cwd,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: path.join(cwd, "home"),
          OAAS_PM_URL: address === undefined ? stack.url : here(address),
        },
        timeoutMs: 120_000,
      },
    );
  }

  test.each(MISTAKES)("$input", async (mistake) => {
    const { exitCode, stdout, stderr } = await make(mistake);
    const lines = `${stdout}\n${stderr}`.split("\n").map((line) => line.trim());
    const pattern = here(mistake.prints)
      .split("…")
      .map((part) => escapeRegExp(part))
      .join(".*");
    expect(
      lines.some((line) => new RegExp(`^${pattern}$`).test(line)),
      `${mistake.prints}\n${lines.join("\n")}`,
    ).toBe(true);
    expect(exitCode, stderr).toBe(mistake.exitCode);
    expect(stderr, "no stack trace").not.toMatch(/^ +at .*:\d+:\d+/m);
  });
});

function escapeRegExp(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
