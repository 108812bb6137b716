import { expect, it } from "vitest";
import { application } from "../app.ts";
import { runCli } from "../run-cli.ts";
import { normalizeArguments } from "./command-line.ts";

const { root } = application("0.0.0");

it.each([
  ["package list -ojson", "package list -o json"],
  ["package list -o=json", "package list -o=json"],
  ["-oname package list", "package list -o name"],
  ["-o json --context=a package list", "package list -o json --context=a"],
  ["delete -fshop.yaml -y", "delete -f shop.yaml -y"],
  ["help package get", "package get --help"],
])("%s is read as %s", (line, expected) => {
  expect(normalizeArguments(root, line.split(" ")).join(" ")).toBe(expected);
});

async function errorOf(...argv: readonly string[]): Promise<string> {
  let text = "";
  await runCli(argv, {
    version: "0.0.0",
    env: {},
    out: () => undefined,
    err: (written) => void (text += written),
    environment: () => Promise.reject(new Error("no command runs")),
  });
  return text;
}

it.each([
  ["pakage", /unknown command "pakage"; did you mean package\?\n {2}hint: see oaas --help/],
  ["rest", /unknown command "rest"\n {2}commands: get, describe, apply, .*\n {2}hint: see oaas --help/],
])("oaas %s answers %s", async (word, text) => {
  expect(await errorOf(word)).toMatch(text);
});

it.each([
  ["rese", "delet", "dwn", "donw", "rset", "gte", "resett", "remove"],
  ["rollbak", "delte", "cancle", "dlete"].map((word) => `deployment ${word}`),
  ["delte", "rolback", "rollbck"].map((word) => `package ${word}`),
  ["remve", "remov", "rmove"].map((word) => `cluster ${word}`),
])("never suggests a destructive command: %s, %s, …", async (...lines) => {
  for (const line of lines)
    expect(await errorOf(...line.split(" ")), line).not.toMatch(
      /did you mean[^?]*\b(?:reset|down|delete|rollback|cancel|remove|undo)\b/,
    );
});
