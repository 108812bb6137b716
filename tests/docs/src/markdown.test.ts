import { describe, expect, test } from "vitest";
import { anchorOf, readPage } from "./markdown.ts";

describe("reading a page", () => {
  test.each([
    ["The journey of a deployment", "the-journey-of-a-deployment"],
    ["`memory`, `sqlite`, and *etcd*", "memory-sqlite-and-etcd"],
    ["oaas deployment apply", "oaas-deployment-apply"],
    ["0011. Deployments are sagas", "0011-deployments-are-sagas"],
    ["What goes / what stays", "what-goes--what-stays"],
    ["odgm_config, [linked](x.md)", "odgm_config-linked"],
    ["`GET /clusters/{name}`", "get-clustersname"],
  ])("the heading %j is reached by #%s", (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor);
  });

  test("headings of the same words are counted; explicit ids count too", () => {
    const page = readPage('# Same\n## Same\n### Same\n<a id="mine"></a>');
    expect([...page.anchors]).toEqual(["same", "same-1", "same-2", "mine"]);
  });

  test("links inline, as pictures, by reference; none in code", () => {
    const page = readPage(
      [
        '[a](a.md) ![b](b.png) [c](c.md#x "title") `[no](no.md)` [`d`](d.md)',
        "[ref]: e.md",
        "```sh",
        "[no](no.md)",
        "```",
      ].join("\n"),
    );
    expect(page.links.map(({ text, line }) => `${line} ${text}`)).toEqual([
      "1 a.md",
      "1 b.png",
      "1 c.md#x",
      "1 d.md",
      "2 e.md",
    ]);
  });

  test("fences keep their information, body and line; a longer fence holds a shorter one", () => {
    const page = readPage("\n```sh run\necho 1\n```\n\n````text\n```\n````\n");
    expect(page.fences).toEqual([
      { info: "sh run", body: "echo 1", line: 2 },
      { info: "text", body: "```", line: 6 },
    ]);
  });

  test("a fence without an end is refused", () => {
    expect(() => readPage("```sh\necho")).toThrow("line 1 has no end");
  });
});
