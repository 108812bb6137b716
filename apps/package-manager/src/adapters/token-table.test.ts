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
  const files = { read: () => [read()] };
  const tokens = followTokens("tokens", time, recorded.log, files);
  const write = async (next: string | undefined): Promise<void> => {
    text = next;
    await time.advance(2_000);
  };
  return { tokens, write, recorded, isIn: (name: string) => tokens.current().callerOf(name) !== undefined };
}

describe("tokens of a file that changes", () => {
  test("are reloaded without a warning", async () => {
    const { tokens, write, isIn } = world(line("ann"));
    expect([isIn("ann"), isIn("bob")]).toEqual([true, false]);
    await write(line("bob"));
    expect([isIn("ann"), isIn("bob")]).toEqual([false, true]);
    expect(tokens.warning()).toBeUndefined();
  });

  test.each([
    { why: "invalid", next: `${line("bob")}bob`, warning: /line 2: is not name:role:hash/ },
    { why: "missing", next: undefined, warning: /tokens cannot be read: ENOENT/ },
  ])("stay in use while the file is $why, with a warning until it is valid again", async ({ next, warning }) => {
    const { tokens, write, recorded, isIn } = world(line("ann"));
    await write(next);
    expect(tokens.warning()).toMatch(warning);
    expect(tokens.warning()).toMatch(/^the token file cannot be used, and its last valid tokens stay in use/);
    expect([isIn("ann"), isIn("bob")]).toEqual([true, false]);
    expect(recorded.messages("error"), "logged once").toHaveLength(1);
    await write(line("bob"));
    expect([isIn("ann"), isIn("bob")]).toEqual([false, true]);
    expect(tokens.warning()).toBeUndefined();
  });

  test("of an empty file reject every caller, with a warning", async () => {
    const { tokens, write, isIn } = world(line("ann"));
    await write("# none\n");
    expect(isIn("ann")).toBe(false);
    expect(tokens.warning()).toBe("the token file tokens is empty, so that every token is rejected");
  });

  test("that are invalid at the start throw", () => {
    expect(() => world("ann")).toThrow(/line 1: is not name:role:hash/);
  });
});
