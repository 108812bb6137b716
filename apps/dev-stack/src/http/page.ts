import { listComponents, STATE_LABELS, type StackState } from "../components.ts";
import type { Starts } from "../start-counter.ts";

export interface PageInput {
  readonly version: string;
  readonly state: StackState;
  readonly starts: Starts;
  readonly revision: number;
}

/** Renders the status page at `/`. */
export function renderPage(input: PageInput): string {
  const rows = listComponents(input.state).map(
    ({ name, details, state }) =>
      `<tr><td>${STATE_LABELS[state]}</td><td>${escape(name)}</td><td>${escape(details)}</td></tr>`,
  );
  const since =
    input.starts.previousAt === undefined ? "the first start" : `previous start at ${escape(input.starts.previousAt)}`;
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
<p>Version ${escape(input.version)}. Start ${input.starts.count} on this data folder (${since}); store revision ${input.revision}.</p>
<table>
<thead><tr><th>State</th><th>Component</th><th>Details</th></tr></thead>
<tbody>${rows.join("")}</tbody>
</table>
<h2>Links</h2>
<ul>
${packageManagerLinks(input.state.packageManager.url)}<li><a href="/health">/health</a>: health of all components as JSON, with addresses and kubeconfig paths</li>
<li><a href="/metrics">/metrics</a>: Prometheus metrics of the stack process</li>
</ul>
</body>
</html>
`;
}

function packageManagerLinks(url: string | undefined): string {
  if (url === undefined) return "";
  const link = (path: string, details: string): string =>
    `<li><a href="${escape(url + path)}">${escape(url + path)}</a>: ${details}</li>\n`;
  return [
    link("/docs", "REST API reference of the package manager"),
    link("/api/v1/deployments", "deployments"),
    link("/api/v1/clusters", "clusters with their health"),
  ].join("");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
