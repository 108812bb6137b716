import { expect, test } from "vitest";
import { ShortcutReader } from "./shortcuts.ts";

const press = (key: string, atMs = 0, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  typing: false,
  atMs,
  ...more,
});

test("g and then d opens the deployments", () => {
  const reader = new ShortcutReader();
  expect([reader.read(press("g", 0)), reader.read(press("d", 500))]).toEqual([
    undefined,
    { kind: "page", path: "/deployments" },
  ]);
});

test("g is forgotten after a while and after another key", () => {
  const reader = new ShortcutReader();
  reader.read(press("g", 0));
  expect(reader.read(press("d", 5000))).toBeUndefined();
  reader.read(press("g", 6000));
  reader.read(press("x", 6100));
  expect(reader.read(press("d", 6200))).toBeUndefined();
});

test("only the palette opens while typing", () => {
  const reader = new ShortcutReader();
  expect(reader.read(press("?", 0, { typing: true }))).toBeUndefined();
  expect(reader.read(press("k", 0, { typing: true, ctrlKey: true }))).toEqual({ kind: "palette" });
  expect([reader.read(press("/")), reader.read(press("?"))]).toEqual([{ kind: "filter" }, { kind: "help" }]);
});
