import { partsOf, STATE_WORDS, type StackState } from "../parts.ts";
import type { Starts } from "../starts.ts";

export interface PageInput {
  readonly version: string;
  readonly state: StackState;
  readonly starts: Starts;
  readonly revision: number;
}

/** The page at `/`: what runs, what does not yet, and what there is to look at. */
export function renderPage(input: PageInput): string {
  const rows = partsOf(input.state).map(
    ({ name, what, state }) =>
      `<tr><td>${STATE_WORDS[state]}</td><td>${escape(name)}</td><td>${escape(what)}</td></tr>`,
  );
  const since =
    input.starts.previousAt === undefined ? "the first" : `the last was at ${escape(input.starts.previousAt)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>OaaS local stack</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
  body { max-width: 52rem; margin: 3rem auto; padding: 0 1rem }
  table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8884; vertical-align: top }
  code { background: #8882; padding: .1rem .3rem; border-radius: .2rem }
</style>
</head>
<body>
<h1>OaaS local stack</h1>
<p>Version ${escape(input.version)}. Start ${input.starts.count} on this data folder (${since}); the store is at revision ${input.revision}.</p>
<table>
<thead><tr><th>State</th><th>Part</th><th>What it is</th></tr></thead>
<tbody>${rows.join("")}</tbody>
</table>
<h2>To look at</h2>
<ul>
${packageManagerLinks(input.state.packageManager.url)}<li><a href="/health">/health</a>: is it well? Package manager with deployments, clusters with their kubeconfig, managers, classes</li>
<li><a href="/metrics">/metrics</a>: Prometheus metrics of the stack itself</li>
</ul>
</body>
</html>
`;
}

function packageManagerLinks(url: string | undefined): string {
  if (url === undefined) return "";
  const link = (path: string, what: string): string =>
    `<li><a href="${escape(url + path)}">${escape(url + path)}</a>: ${what}</li>\n`;
  return [
    link("/docs", "the package manager's REST interface"),
    link("/api/v1/deployments", "deployments"),
    link("/api/v1/clusters", "clusters with their health"),
  ].join("");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
