import { createHash } from "node:crypto";
import { failedPrecondition } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { createRecordingLogger } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { followTokens } from "./token-table.ts";

const line = (name: string): string => `${name}:viewer:${createHash("sha256").update(name).digest("hex")}\n`;

function world(first: string) {
  const { time } = virtualAmbient(1);
  const recorded = createRecordingLogger();
  let text: string | undefined = first;
  const read = (): string => {
    if (text === undefined) throw failedPrecondition("tokens", "tokens cannot be read: ENOENT");
    return text;
  };
  const files = { stamp: read, read: () => ({ texts: [read()], stamp: read() }) };
  const tokens = followTokens("tokens", time, recorded.log, files);
  const write = async (next: string | undefined): Promise<void> => {
    text = next;
    await time.advance(2_000);
  };
  return { tokens, write, recorded, isIn: (name: string) => tokens.current().callerOf(name) !== undefined };
}

describe("tokens of a file that changes", () => {
  test("are those it has, and nothing is to be warned of", async () => {
    const { tokens, write, isIn } = world(line("ann"));
    expect([isIn("ann"), isIn("bob")]).toEqual([true, false]);
    await write(line("bob"));
    expect([isIn("ann"), isIn("bob")]).toEqual([false, true]);
    expect(tokens.warning()).toBeUndefined();
  });

  test.each([
    { why: "wrong", next: `${line("bob")}bob`, says: /line 2: is not name:role:hash/ },
    { why: "taken away", next: undefined, says: /tokens cannot be read: ENOENT/ },
  ])("stay as they were while it is $why, which is told until it is right again", async ({ next, says }) => {
    const { tokens, write, recorded, isIn } = world(line("ann"));
    await write(next);
    expect(tokens.warning()).toMatch(says);
    expect(tokens.warning()).toMatch(/^the tokens in force are those from before/);
    expect([isIn("ann"), isIn("bob")]).toEqual([true, false]);
    expect(recorded.messages("error"), "told once").toHaveLength(1);
    await write(line("bob"));
    expect([isIn("ann"), isIn("bob")]).toEqual([false, true]);
    expect(tokens.warning()).toBeUndefined();
  });

  test("of which there are none let nobody in, which is told", async () => {
    const { tokens, write, isIn } = world(line("ann"));
    await write("# nobody\n");
    expect(isIn("ann")).toBe(false);
    expect(tokens.warning()).toBe("the token file tokens holds no token, so that nobody is recognised by one");
  });

  test("that are wrong from the beginning keep it from starting", () => {
    expect(() => world("ann")).toThrow(/line 1: is not name:role:hash/);
  });
});
