import { loadConfig } from "@oaas/config";
import type { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import { crmConfig, type CrmConfig } from "../config.ts";
import { followSecrets } from "./secret-files.ts";

/** A manager whose token stands in a file that the test writes. */
function following(first: string) {
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
  const secrets = followSecrets({
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
  return { secrets, write, changes, faults, time };
}

test("a token that is written anew counts without a restart", async () => {
  const { secrets, write, changes } = following("one\n");
  expect(secrets.current().tokens).toEqual(["one"]);
  await write("two\n");
  expect(secrets.current().tokens).toEqual(["two"]);
  await write("two\n");
  expect(changes).toHaveLength(1);
});

test("the old and the new token both count while both stand there, so that a change has no gap", async () => {
  const { secrets, write, changes } = following("old\n");
  await write("old\nnew\n");
  expect(secrets.current().tokens).toEqual(["old", "new"]);
  await write("new\n");
  expect(secrets.current().tokens).toEqual(["new"]);
  expect(changes).toHaveLength(2);
});

test.each([
  { why: "a file that is gone", content: undefined },
  { why: "an empty file", content: "" },
  { why: "a file of empty lines", content: "\n , \n" },
  { why: "a file with something that cannot be sent", content: "two words" },
])("$why does not open the door; the next token counts again", async ({ content }) => {
  const { secrets, write, faults } = following("one");
  await write(content);
  await write(content);
  expect(secrets.current().tokens).toEqual(["one"]);
  expect(faults.length).toBeLessThanOrEqual(1);
  await write("two");
  expect(secrets.current().tokens).toEqual(["two"]);
});

test("closed, it looks no more", async () => {
  const { secrets, write } = following("one");
  secrets.close();
  await write("two");
  expect(secrets.current().tokens).toEqual(["one"]);
});
