import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./sources.ts";

/** Words of a private dialect; see the glossary for the terms to use instead. */
const WORDS = "wish(es|ed)?|mend(s|ed)?|anew|nobody|whoever|somebody";

/** Lines that must contain such a word, because they quote something. */
const QUOTATIONS: readonly { readonly file: RegExp; readonly line: RegExp; readonly reason: string }[] = [
  { file: /^tests\/architecture\/vocabulary\.test\.ts$/, line: /./, reason: "the list itself" },
  {
    file: /^(apps\/cli\/src\/commands\/local-stack\/routes\.ts|docs\/reference\/cli\.md|CHANGELOG\.md)$/,
    line: /mend: "restore"|oaas lab mend\b/,
    reason: "the old name of `oaas lab restore`, kept as an alias",
  },
];

test.skipIf(!existsSync(path.join(ROOT, ".git")))("no file uses the words of the private dialect", () => {
  const { status, stdout, stderr } = spawnSync("git", ["grep", "-InwiE", WORDS], { cwd: ROOT, encoding: "utf8" });
  expect(status, stderr).toBeLessThan(2);
  const found = stdout.split("\n").filter((line) => line !== "");
  const isQuotation = (entry: string): boolean => {
    const [, file = "", line = ""] = /^([^:]+):\d+:(.*)$/.exec(entry) ?? [];
    return QUOTATIONS.some((each) => each.file.test(file) && each.line.test(line));
  };
  expect(found.filter((entry) => !isQuotation(entry))).toEqual([]);
  for (const { file, reason } of QUOTATIONS) {
    expect(
      found.some((entry) => file.test(entry.split(":")[0] ?? "")),
      `unused quotation: ${reason}`,
    ).toBe(true);
  }
});
