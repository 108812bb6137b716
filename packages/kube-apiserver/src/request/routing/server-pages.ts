import type { ApiRequest, ApiResponse } from "../../api.ts";
import { statusResponse, textResponse } from "../response/responses.ts";
import { methodNotAllowed } from "../response/status-errors.ts";
import type { PathHandler } from "./router.ts";

/** The Kubernetes release that this server reproduces; the build suffix marks it as embedded. */
const RELEASE = { major: "1", minor: "36", patch: "3" };

const VERSION = {
  major: RELEASE.major,
  minor: RELEASE.minor,
  emulationMajor: RELEASE.major,
  emulationMinor: RELEASE.minor,
  minCompatibilityMajor: RELEASE.major,
  minCompatibilityMinor: String(Number(RELEASE.minor) - 1),
  gitVersion: `v${RELEASE.major}.${RELEASE.minor}.${RELEASE.patch}+embedded`,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "node",
};

/** The only content type kubectl accepts for OpenAPI v2. */
const OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** An empty OpenAPI v2 document in protobuf: `swagger: "2.0"`. Clients then leave validation to the server. */
const EMPTY_OPENAPI_V2 = "\n\u00032.0";

const HEALTH = /^\/(healthz|livez|readyz)(?:\/(ping|log|etcd))?\/?$/;

/** Version, health, and OpenAPI for old clients. */
export const serverPages: PathHandler = {
  handle: (request: ApiRequest, path: string, query: URLSearchParams): ApiResponse | undefined => {
    if (request.method !== "GET") return isVersion(path) ? statusResponse(methodNotAllowed()) : undefined;
    if (isVersion(path)) {
      const headers = { "content-type": "application/json", "cache-control": "no-cache, private" };
      return { status: 200, headers, body: JSON.stringify(VERSION, undefined, 2) };
    }
    if (path === "/openapi/v2" && request.headers["accept"]?.startsWith(OPENAPI_V2_PROTOBUF) === true) {
      return {
        status: 200,
        headers: { "content-type": OPENAPI_V2_PROTOBUF.replace("@", ".") },
        body: EMPTY_OPENAPI_V2,
      };
    }
    const [, check, part] = HEALTH.exec(path) ?? [];
    if (check === undefined) return undefined;
    if (part !== undefined || !query.has("verbose")) return textResponse(200, "ok");
    return textResponse(200, `[+]ping ok\n[+]log ok\n[+]etcd ok\n${check} check passed\n`);
  },
};

function isVersion(path: string): boolean {
  return path === "/version" || path === "/version/";
}
