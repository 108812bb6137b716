/** The links and code of a page. */
export interface Page {
  /** Anchors of headings as on GitHub, and explicit ids. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of `[…](…)`, `![…](…)` and `[…]: …`. */
  readonly links: readonly Located[];
  /** Code spans. */
  readonly spans: readonly Located[];
  readonly fences: readonly Fence[];
}

export interface Located {
  readonly text: string;
  readonly line: number;
}

/** A fenced block: its info string, its lines, and the number of its opening line. */
export interface Fence {
  readonly info: string;
  readonly body: string;
  readonly line: number;
}

const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const FENCE = /^(\s*)(`{3,}|~{3,})(.*)$/;
const SPAN = /(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/g;
const INLINE_LINK = /\]\(\s*<?([^()\s>]*(?:\([^()\s]*\)[^()\s>]*)*)>?(?:\s+"[^"]*")?\s*\)/g;
const REFERENCE = /^\s{0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?/;
const EXPLICIT_ID = /<a\s[^>]*(?:id|name)="([^"]+)"/g;

/** Parses a page; code contains no links. */
export function readPage(text: string): Page {
  const anchors = new Set<string>();
  const taken = new Map<string, number>();
  const links: Located[] = [];
  const spans: Located[] = [];
  const fences: Fence[] = [];
  let open: { mark: string; info: string; body: string[]; line: number } | undefined;
  for (const [index, content] of text.split("\n").entries()) {
    const line = index + 1;
    const [, , mark, info = ""] = FENCE.exec(content) ?? [];
    if (open !== undefined) {
      if (mark?.startsWith(open.mark) && info.trim() === "") {
        fences.push({ info: open.info, body: open.body.join("\n"), line: open.line });
        open = undefined;
      } else open.body.push(content);
      continue;
    }
    if (mark !== undefined) {
      open = { mark, info: info.trim(), body: [], line };
      continue;
    }
    const heading = HEADING.exec(content)?.[1];
    if (heading !== undefined) anchors.add(unique(anchorOf(heading), taken));
    for (const [, id = ""] of content.matchAll(EXPLICIT_ID)) anchors.add(id);
    for (const [, , span = ""] of content.matchAll(SPAN)) spans.push({ text: span.trim(), line });
    const prose = content.replaceAll(SPAN, "");
    for (const [, target = ""] of prose.matchAll(INLINE_LINK)) links.push({ text: target, line });
    const reference = REFERENCE.exec(prose)?.[1];
    if (reference !== undefined) links.push({ text: reference, line });
  }
  if (open !== undefined) throw new SyntaxError(`the block that begins in line ${open.line} has no end`);
  return { anchors, links, spans, fences };
}

/** The anchor of a heading on GitHub. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/<[^>]*>/g, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

function unique(anchor: string, taken: Map<string, number>): string {
  const times = taken.get(anchor) ?? 0;
  taken.set(anchor, times + 1);
  return times === 0 ? anchor : `${anchor}-${times}`;
}
