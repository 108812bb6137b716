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
  ])("the heading %j has the anchor #%s", (heading, anchor) => {
    expect(anchorOf(heading)).toBe(anchor);
  });

  test("numbers duplicate headings and finds explicit ids", () => {
    const page = readPage('# Same\n## Same\n### Same\n<a id="mine"></a>');
    expect([...page.anchors]).toEqual(["same", "same-1", "same-2", "mine"]);
  });

  test("finds inline, image and reference links, but none in code", () => {
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

  test("keeps info string, body and line of fences, and supports nested fences", () => {
    const page = readPage("\n```sh run\necho 1\n```\n\n````text\n```\n````\n");
    expect(page.fences).toEqual([
      { info: "sh run", body: "echo 1", line: 2 },
      { info: "text", body: "```", line: 6 },
    ]);
  });

  test("rejects an unclosed fence", () => {
    expect(() => readPage("```sh\necho")).toThrow("line 1 has no end");
  });
});
