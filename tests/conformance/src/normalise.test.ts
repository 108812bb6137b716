import type { JsonObject } from "@oaas/kube-core";
import { describe, expect, it } from "vitest";
import { Normaliser } from "./normalise.ts";

const UIDS = ["11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"];

function normal(value: JsonObject): unknown {
  return new Normaliser().value(value);
}

describe("normalises server responses", () => {
  it("numbers ids and versions in order of appearance over a whole case, equal ones equal", () => {
    const normaliser = new Normaliser();
    const first = { metadata: { uid: UIDS[0]!, resourceVersion: "17", name: "a" }, spec: { owner: UIDS[1]! } };
    expect(normaliser.value(first)).toEqual({
      metadata: { uid: "<uid 1>", resourceVersion: "<rv 1>", name: "a" },
      spec: { owner: "<uid 2>" },
    });
    const second = { metadata: { uid: UIDS[1]!, resourceVersion: "99", name: "b" } };
    expect(normaliser.value(second)).toEqual({ metadata: { uid: "<uid 2>", resourceVersion: "<rv 2>", name: "b" } });
    expect(normaliser.value(first)).toMatchObject({ metadata: { resourceVersion: "<rv 1>" } });
  });

  it("drops times, but keeps whole seconds distinct from fractions", () => {
    expect(normal({ a: "2026-11-15T10:00:00Z", b: "2026-11-15T10:00:00.123456Z", c: "2026-11-15" })).toEqual({
      a: "<time>",
      b: "<microtime>",
      c: "2026-11-15",
    });
  });

  it("the version of a list belongs to the store, those of its items to the items", () => {
    const list = { items: [{ metadata: { resourceVersion: "5" } }], metadata: { resourceVersion: "9" } };
    expect(normal(list)).toEqual({
      items: [{ metadata: { resourceVersion: "<rv 1>" } }],
      metadata: { resourceVersion: "<rv>" },
    });
  });

  it("recognises generated names everywhere", () => {
    const pod = { metadata: { generateName: "web-", name: "web-x4k2p" }, status: { message: "pod web-x4k2p is gone" } };
    expect(normal(pod)).toEqual({
      metadata: { generateName: "web-", name: "web-<made 1>" },
      status: { message: "pod web-<made 1> is gone" },
    });
    const numbered = { metadata: { generateName: "db-", name: "db-0" } };
    expect(normal(numbered)).toEqual(numbered);
  });

  it("sorts managers and causes, and keeps the order of everything else", () => {
    const managers = [
      { manager: "b", operation: "Update" },
      { manager: "a", operation: "Update" },
    ];
    expect(normal({ managedFields: managers })).toEqual(normal({ managedFields: managers.toReversed() }));
    expect(normal({ finalizers: ["b", "a"] })).not.toEqual(normal({ finalizers: ["a", "b"] }));
  });

  it("replaces several errors in one message by the causes", () => {
    const messageOf = (list: string): unknown => normal({ message: `X "a" is invalid: ${list}` });
    expect(messageOf("[a: Required, b: Invalid]")).toEqual(messageOf("[b: Invalid, a: Required]"));
    expect(messageOf("a: Required")).not.toEqual(messageOf("b: Invalid"));
  });

  it("compares objects quoted in a message as objects, whatever their values", () => {
    const quoted = (object: JsonObject): unknown =>
      normal({ message: `Invalid value: ${JSON.stringify(JSON.stringify(object))}: unknown field` });
    expect(quoted({ kind: "A", spec: { x: 1, y: "2" } })).toEqual(quoted({ spec: { y: "2", x: 1 }, kind: "A" }));
    expect(quoted({ kind: "A", spec: { x: 1 } })).not.toEqual(quoted({ kind: "A", spec: { x: 2 } }));
    const owners = [{ manager: "b" }, { manager: "a" }];
    expect(quoted({ metadata: { managedFields: owners } })).toEqual(
      quoted({ metadata: { managedFields: owners.toReversed() } }),
    );
    expect(normal({ message: 'Invalid value: "{no json}"' })).toEqual({ message: 'Invalid value: "{no json}"' });
  });

  it("drops nondeterministic apply errors and keeps the deterministic ones", () => {
    const refused = (errors: string): unknown =>
      normal({ message: `failed to create typed patch object (/a; x/v1, Kind=A): ${errors}` });
    const undeclared = ".spec.u: field not declared in schema";
    expect(refused(undeclared)).toEqual(refused(`errors:\n  .spec.b: expected string\n  ${undeclared}`));
    expect(refused("errors:\n  .b: wrong\n  .a: wrong")).toEqual(refused("errors:\n  .a: wrong\n  .b: wrong"));
    expect(refused(".a: wrong")).not.toEqual(refused(".b: wrong"));
  });

  it("replaces certificates and tokens", () => {
    const certificate = "-----BEGIN CERTIFICATE-----\nMIIB+/=\n-----END CERTIFICATE-----\n";
    expect(normal({ ca: certificate, t: "eyJhbGciOi.eyJpc3Mi.c2ln" })).toEqual({ ca: "<certificate>", t: "<token>" });
    expect(normal({ ca: "" })).toEqual({ ca: "" });
  });

  it("removes ages, versions, times and column widths from kubectl output", () => {
    const printed =
      "NAME   AGE\na      12s\nResource Version:  251\nCreationTimestamp:  Sun, 15 Nov 2026 10:00:00 +0000\n";
    expect(new Normaliser().text(printed)).toBe(
      "NAME  AGE\na  <age>\nResource Version:  <rv>\nCreationTimestamp:  <time>\n",
    );
  });

  it("drops kubectl logs about a watch that its deadline ended, and keeps its error", () => {
    const log = 'E1115 16:40:22.287034    2913 reflector.go:227] "Failed to watch" err="context deadline exceeded"\n';
    expect(new Normaliser().text(`${log}error: timed out\n`)).toBe("error: timed out\n");
    const short =
      'I1116 14:51:29.832178  6259 reflector.go:664] "watch ended with error" err="very short watch: closed"\n';
    expect(new Normaliser().text(`${short}error: timed out\n`)).toBe("error: timed out\n");
    const refused = log.replace("context deadline exceeded", "forbidden");
    expect(new Normaliser().text(refused)).toContain("forbidden");
  });
});
