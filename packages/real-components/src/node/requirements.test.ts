import { describe, expect, it } from "vitest";
import { canLowerOomScore, missingOnMachine, type Machine } from "./requirements.ts";

const MACHINE: Machine = { platform: "linux", uid: 0, hasTool: () => true, folders: ["/srv/cache"] };

describe("missingOnMachine", () => {
  it("accepts Linux as root with the tools of a base system", () => {
    expect(missingOnMachine(MACHINE)).toEqual([]);
  });

  it.each([
    { why: "another system", machine: { platform: "darwin" }, text: /^real nodes need Linux, this is darwin/ },
    { why: "another user", machine: { uid: 1000 }, text: /need root.*run it with sudo/ },
    { why: "a missing tool", machine: { hasTool: (name: string) => name !== "unshare" }, text: /^unshare not found/ },
    {
      why: "a folder that a node hides",
      machine: { folders: ["/var/lib/ci/cache"] },
      text: /\/var\/lib\/ci\/cache.*TMPDIR/,
    },
  ])("names the fix for $why", ({ machine, text }) => {
    const missing = missingOnMachine({ ...MACHINE, ...machine });
    expect(missing).toHaveLength(1);
    expect(missing[0]).toMatch(text);
  });
});

describe("canLowerOomScore", () => {
  it.each([
    ["CapEff:\t000001ffffffffff", true],
    ["CapEff:\t000001fffeffffff", false],
    ["", false],
  ])("%j is %s", (status, expected) => {
    expect(canLowerOomScore(`Name:\tnode\n${status}\n`)).toBe(expected);
  });
});
