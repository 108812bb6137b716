import { describe, expect, it } from "vitest";
import { readPreviousStart } from "./cluster-folder.ts";
import { kubeconfigText, tokenFile } from "./kubeconfig.ts";

const USERS = [
  { name: "admin", token: "t1", groups: ["system:masters", "b"] },
  { name: "viewer", token: "t2" },
];

describe("users of a cluster", () => {
  it("are lines of the token file with quoted groups", () => {
    expect(tokenFile(USERS)).toBe('t1,admin,admin,"system:masters,b"\nt2,viewer,viewer,""\n');
  });

  it("are in the kubeconfig, the first one as current", () => {
    const config = JSON.parse(kubeconfigText("here", "https://127.0.0.1:1", "CA", USERS)) as Record<string, unknown>;
    expect(config["users"]).toEqual([
      { name: "admin", user: { token: "t1" } },
      { name: "viewer", user: { token: "t2" } },
    ]);
    expect(config["contexts"]).toEqual([{ name: "here", context: { cluster: "here", user: "admin" } }]);
  });

  it("are read with the port by a later start; an invalid file is ignored", () => {
    expect(readPreviousStart(kubeconfigText("here", "https://127.0.0.1:12345", "CA", USERS))).toEqual({
      port: 12_345,
      token: "t1",
    });
    for (const text of ["", "{}", "nonsense", '{"clusters": [{"cluster": {"server": "?"}}]}']) {
      expect(readPreviousStart(text)).toEqual({});
    }
  });
});
