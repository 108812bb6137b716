const CHARACTER_WIDTH = 8.43;
const LINE_HEIGHT = 19;
const MARGIN = 16;

/** Fill colours of the marks in recorded screens. */
const FILLS: Readonly<Record<string, string>> = {
  red: "#ff8787",
  green: "#8ce99a",
  yellow: "#ffe066",
  dim: "#868e96",
  bold: "#ffffff",
};

const MARKED = /‹(?<colour>[a-z]+)›(?<text>[^‹]*)‹\/›|(?<plain>[^‹]+)/g;

/** Draws a recorded screen as a picture of a terminal. */
export function drawScreen(screen: string): string {
  const lines = screen.trimEnd().split("\n");
  const widest = Math.max(...lines.map((line) => line.replaceAll(/‹\/?[a-z]*›/g, "").length));
  const width = Math.ceil(widest * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const texts = lines.map((line, index) =>
    line === ""
      ? ""
      : `<text x="${MARGIN}" y="${MARGIN + LINE_HEIGHT * index + 14}" xml:space="preserve">${drawLine(line)}</text>\n`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="#dee2e6">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#212529"/>`,
    `${texts.join("")}</svg>`,
    "",
  ].join("\n");
}

function drawLine(line: string): string {
  return [...line.matchAll(MARKED)]
    .map(({ groups = {} }) =>
      groups["plain"] === undefined
        ? `<tspan fill="${FILLS[groups["colour"] ?? ""] ?? "#dee2e6"}">${escapeXml(groups["text"] ?? "")}</tspan>`
        : escapeXml(groups["plain"]),
    )
    .join("");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
