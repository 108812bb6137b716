import { expect, test } from "vitest";
import { PARTS } from "../parts.ts";
import { readyScreen } from "../screen.ts";
import { renderPage } from "./page.ts";

test("the page claims to run only what runs", () => {
  const page = renderPage({ version: "1", parts: PARTS, starts: { count: 1, previousAt: undefined }, revision: 7 });
  for (const { name, running } of PARTS) {
    expect(page).toContain(`<td>${running ? "running" : "not in the stack yet"}</td><td>${name}</td>`);
  }
});

test("text from outside cannot become markup", () => {
  const parts = [{ name: "<script>alert(1)</script>", what: 'a "quoted" & b', running: true }];
  const page = renderPage({ version: "<1>", parts, starts: { count: 2, previousAt: "<now>" }, revision: 1 });
  expect(page).not.toMatch(/<script>|<1>|<now>/);
  expect(page).toContain("a &quot;quoted&quot; &amp; b");
});

test("the screen shows the address, where the data is, and how to stop", () => {
  const screen = readyScreen({
    url: "http://x:1",
    dataDir: "/data",
    starts: { count: 3, previousAt: "earlier" },
    parts: PARTS,
  });
  expect(screen).toContain("http://x:1");
  expect(screen).toContain("/data (start 3, the last was earlier)");
  expect(screen).toMatch(/○ Package manager/);
  expect(screen).toContain("Ctrl-C");
});
