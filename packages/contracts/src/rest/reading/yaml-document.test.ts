import { describe, expect, test } from "vitest";
import { WireScalar } from "./wire-scalar.ts";
import { documentFromYaml } from "./yaml-document.ts";

describe("documentFromYaml", () => {
  test("returns plain values, and scalars with their source text", () => {
    const read = documentFromYaml('a: 1\nb: 1.0\nc: "1.0"\nd: True\ne: true\nf: ~\ng: [x, 0x10]\n');
    expect(read).toEqual({
      ok: true,
      value: {
        a: new WireScalar(1, "1"),
        b: new WireScalar(1, "1.0"),
        c: "1.0",
        d: new WireScalar(true, "True"),
        e: new WireScalar(true, "true"),
        f: null,
        g: ["x", new WireScalar(16, "0x10")],
      },
    });
  });

  test("keeps keys as written", () => {
    expect(documentFromYaml("1.0: a\ntrue: b\n")).toEqual({ ok: true, value: { "1.0": "a", true: "b" } });
  });

  test("reads JSON and resolves aliases", () => {
    expect(documentFromYaml('{"a": ["1", null]}')).toEqual({ ok: true, value: { a: ["1", null] } });
    expect(documentFromYaml("a: &x {k: v}\nb: *x\n")).toEqual({ ok: true, value: { a: { k: "v" }, b: { k: "v" } } });
  });

  test("resolves merge keys; explicit keys take precedence", () => {
    expect(documentFromYaml("a: &x {k: v, n: 1}\nb: {<<: *x, k: w}\nc: {<<: [*x, {m: 2, k: u}]}\n")).toEqual({
      ok: true,
      value: {
        a: { k: "v", n: new WireScalar(1, "1") },
        b: { k: "w", n: new WireScalar(1, "1") },
        c: { k: "v", n: new WireScalar(1, "1"), m: new WireScalar(2, "2") },
      },
    });
    expect(documentFromYaml('"<<": x\n')).toEqual({ ok: true, value: { "<<": "x" } });
  });

  const layers = Array.from({ length: 9 }, (_, layer) => {
    const below = layer === 0 ? "x" : `*l${layer - 1}`;
    return `l${layer}: &l${layer} [${Array.from({ length: 9 }, () => below).join(",")}]`;
  });

  test.each([
    { text: "", says: "is empty", why: "nothing was sent" },
    { text: "# nothing\n", says: "is empty", why: "only a comment" },
    { text: "a: 1\n---\nb: 2\n", says: "more than one document", why: "two documents" },
    { text: "a: 1\na: 2\n", says: "repeated", why: "one of the two would be lost" },
    { text: "a: [1\n", says: "not valid YAML", why: "a list that does not end" },
    { text: "? [1, 2]\n: 3\n", says: "key", why: "JSON has no such keys" },
    { text: "a: {<<: text}\n", says: "not valid YAML", why: "a merge key without a map" },
    { text: "a: *missing\n", says: "not valid YAML", why: "an alias without an anchor" },
    { text: layers.join("\n"), says: "too many aliases", why: "a billion laughs" },
    { text: "[".repeat(20_000), says: "nested too deeply", why: "nested beyond the parser's stack" },
    { text: "[".repeat(20_000) + "]".repeat(20_000), says: "nested too deeply", why: "nested as deeply, but complete" },
  ])("rejects with a fix: $why", ({ text, says }) => {
    const read = documentFromYaml(text);
    expect(read.ok).toBe(false);
    if (read.ok) return;
    expect(read.error[0]?.path).toBe("$");
    expect(read.error[0]?.message).toContain(says);
    expect(read.error[0]?.fix).toBeTruthy();
  });
});
