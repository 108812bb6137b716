import type { ApiRequest, ApiResponse } from "../api.ts";
import { listGroups, type Group } from "../discovery/group-versions.ts";
import type { KindRegistry } from "../kinds/kind-registry.ts";
import type { PathHandler } from "../request/routing/router.ts";
import { openApiDocuments, swagger, type OpenApiDocument } from "./documents.ts";

const JSON_TYPE = "application/json";
const ROOT = "/openapi/v3";

interface Edition {
  readonly number: number;
  readonly groups: readonly Group[];
  readonly documents: readonly OpenApiDocument[];
}

/** OpenAPI documents, for `kubectl explain` and client-side validation. */
export function openApiPages(kinds: KindRegistry): PathHandler {
  let cached: Edition | undefined;
  const edition = (): Edition => {
    if (cached?.number !== kinds.edition) {
      const groups = listGroups(kinds.all());
      // Unchanged documents keep their text.
      const old = new Map(cached?.documents.map((document) => [`${document.path}?${document.hash}`, document]));
      const documents = openApiDocuments(groups).map(
        (document) => old.get(`${document.path}?${document.hash}`) ?? document,
      );
      cached = { number: kinds.edition, groups, documents };
    }
    return cached;
  };
  return { handle: (request, path) => (request.method === "GET" ? createResponse(request, path, edition) : undefined) };
}

function createResponse(request: ApiRequest, path: string, edition: () => Edition): ApiResponse | undefined {
  if (path === "/openapi/v2") return oldForm(request, edition());
  if (path === ROOT || path === `${ROOT}/`) return index(edition().documents);
  if (!path.startsWith(`${ROOT}/`)) return undefined;
  const document = edition().documents.find((each) => path === `${ROOT}/${each.path}`);
  return document === undefined ? undefined : one(request, document);
}

function index(documents: readonly OpenApiDocument[]): ApiResponse {
  const paths = documents
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, hash }) => [path, { serverRelativeURL: `${ROOT}/${path}?hash=${hash}` }]);
  return json({ "cache-control": "no-cache, private" }, JSON.stringify({ paths: Object.fromEntries(paths) as object }));
}

function one(request: ApiRequest, document: OpenApiDocument): ApiResponse {
  const hash = new URLSearchParams(request.target.split("?")[1] ?? "").get("hash");
  const etag = `"${document.hash}"`;
  // A hash identifies a document; an outdated one redirects to the current document.
  if (hash !== null && hash !== document.hash) {
    const location = `${ROOT}/${document.path}?hash=${document.hash}`;
    return { status: 301, headers: { location }, body: "" };
  }
  const cache = hash === null ? "no-cache, private" : "public, immutable";
  const headers = { etag, vary: "Accept", "cache-control": cache };
  if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
  return json(headers, document.text());
}

/** Clients that accept only the binary form get 406; kubectl then uses version 3. */
function oldForm({ headers }: ApiRequest, { groups }: Edition): ApiResponse {
  const accept = headers["accept"] ?? "*/*";
  const takesJson = accept
    .split(",")
    .some((entry) => /^\s*(?:application\/json|application\/\*|\*\/\*)\s*(?:;|$)/.test(entry));
  if (!takesJson) return { status: 406, headers: { "content-type": "text/plain; charset=utf-8" }, body: "" };
  return json({ "cache-control": "no-cache, private", vary: "Accept" }, JSON.stringify(swagger(groups)));
}

function json(headers: Readonly<Record<string, string>>, body: string): ApiResponse {
  return { status: 200, headers: { ...headers, "content-type": JSON_TYPE }, body };
}
