import { loadConfig } from "@oaas/config";
import type { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { crmConfig, type CrmConfig } from "../config.ts";
import { watchSecrets } from "./secret-files.ts";

/** Secrets from a token file that the test writes. */
function watchToken(first: string) {
  const { time, timers } = virtualAmbient(1);
  let content: string | undefined = first;
  const reread = (): CrmConfig =>
    loadConfig(crmConfig, {
      env: { OPRC_CRM_SECURITY_TOKEN_FILE: "/secret/token" },
      readFile: () => {
        if (content === undefined) throw new Error("no such file");
        return content;
      },
    });
  const changes: string[] = [];
  const faults: Fault[] = [];
  const secrets = watchSecrets({
    config: reread(),
    reread,
    timers,
    changed: () => changes.push("changed"),
    failed: (fault) => faults.push(fault),
  });
  const write = async (next: string | undefined): Promise<void> => {
    content = next;
    await time.advance(5_000);
  };
  const tokens = (): readonly string[] => secrets.current().tokens.map(({ token }) => token);
  return { secrets, tokens, write, changes, faults, time };
}

test("loads a replaced token without a restart", async () => {
  const { tokens, write, changes } = watchToken("one\n");
  expect(tokens()).toEqual(["one"]);
  await write("two\n");
  expect(tokens()).toEqual(["two"]);
  await write("two\n");
  expect(changes).toHaveLength(1);
});

test("accepts the old and the new token while the file contains both", async () => {
  const { tokens, write, changes } = watchToken("old\n");
  await write("old\nnew\n");
  expect(tokens()).toEqual(["old", "new"]);
  await write("new\n");
  expect(tokens()).toEqual(["new"]);
  expect(changes).toHaveLength(2);
});

test.each([
  { case: "a missing file", content: undefined },
  { case: "an empty file", content: "" },
  { case: "a file of empty lines", content: "\n , \n" },
  { case: "a file with an invalid token", content: "two words" },
])("keeps the last token for $case, and loads the next valid one", async ({ content }) => {
  const { tokens, write, faults } = watchToken("one");
  await write(content);
  await write(content);
  expect(tokens()).toEqual(["one"]);
  expect(faults.length).toBeLessThanOrEqual(1);
  await write("two");
  expect(tokens()).toEqual(["two"]);
});

test("stops polling after close", async () => {
  const { secrets, tokens, write } = watchToken("one");
  secrets.close();
  await write("two");
  expect(tokens()).toEqual(["one"]);
});
