import type { OpenApiDocument } from "@oaas/contracts/rest";

/** The OpenAPI document as a page to read: no script, nothing fetched from elsewhere. */
export function referencePage(document: OpenApiDocument): string {
  const byTag = new Map<string, string[]>();
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const [tag = "other"] = (operation["tags"] as readonly string[] | undefined) ?? [];
      const list = byTag.get(tag) ?? [];
      byTag.set(tag, [...list, operationHtml(method, path, operation)]);
    }
  }
  const sections = [...byTag].map(
    ([tag, operations]) => `<section id="${escape(tag)}"><h2>${escape(tag)}</h2>${operations.join("")}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(document.info.title)} ${escape(document.info.version)}</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
  body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
  details { border-bottom: 1px solid #8884; padding: .3rem 0 }
  summary { cursor: pointer }
  code { background: #8882; padding: .1rem .3rem; border-radius: .2rem }
  .method { display: inline-block; min-width: 4.5rem; font-weight: 600 }
  table { border-collapse: collapse } th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top }
</style>
</head>
<body>
<h1>${escape(document.info.title)} ${escape(document.info.version)}</h1>
<p>Everything here is also in <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>
<nav>${[...byTag.keys()].map((tag) => `<a href="#${escape(tag)}">${escape(tag)}</a>`).join(" · ")}</nav>
${sections.join("\n")}
</body>
</html>
`;
}

function operationHtml(method: string, path: string, operation: Readonly<Record<string, unknown>>): string {
  const parameters = ((operation["parameters"] ?? []) as readonly Readonly<Record<string, unknown>>[]).filter(
    ({ name }) => name !== undefined,
  );
  const rows = parameters.map(
    ({ name, in: place, required }) =>
      `<tr><td><code>${escape(String(name))}</code></td><td>${escape(String(place))}</td><td>${required ? "required" : ""}</td></tr>`,
  );
  const answers = Object.entries(operation["responses"] as Readonly<Record<string, { description?: string }>>).map(
    ([status, { description }]) =>
      `<tr><td>${escape(status)}</td><td>${escape(description ?? "a problem document")}</td></tr>`,
  );
  return `<details id="${escape(String(operation["operationId"]))}"><summary><span class="method">${method.toUpperCase()}</span> <code>${escape(path)}</code> ${escape(String(operation["summary"]))}</summary>
<p>Role: <code>${escape(String(operation["x-role"]))}</code></p>
${rows.length === 0 ? "" : `<table><tbody>${rows.join("")}</tbody></table>`}
<table><tbody>${answers.join("")}</tbody></table></details>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
