import { describe, expect, test } from "vitest";
import { drawScreen } from "./screen-svg.ts";

describe("the picture of a screen", () => {
  test("contains each line with its colours, escaped", () => {
    const svg = drawScreen("$ oaas get <all>\n\n‹green›●‹/› Store & ‹dim›file‹/›\n");
    expect(svg).toContain('xml:space="preserve">$ oaas get &lt;all&gt;</text>');
    expect(svg).toContain('<tspan fill="#8ce99a">●</tspan> Store &amp; <tspan fill="#868e96">file</tspan></text>');
    expect(svg.match(/<text /g)).toHaveLength(2);
  });

  test("is as wide as its longest line and as high as its lines", () => {
    expect(drawScreen("12345678901234567890\nx\ny")).toContain('width="201" height="89"');
  });
});
