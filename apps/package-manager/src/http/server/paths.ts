import { allRoutes, HttpError, type OperationId, type Route } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import type { FastifyRequest } from "fastify";
import type { Handler, Handlers, OwnOperation } from "../handler.ts";

/** Beyond the limit of request headers: the router itself imposes no length on parameters. */
export const MAX_PATH = 65_536;
const MAX_PARAMETER = 512;

/** Fastify's patterns for a path of the contract. `{path}` at the end stands for any number of segments, also for none. */
export function pathPatterns(path: string): readonly string[] {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ":$1");
  return pattern.endsWith("/:path") ? [pattern.slice(0, -"/:path".length), pattern.replace(":path", "*")] : [pattern];
}

/** The parameters of a path. Rejects empty and overlong ones as an unknown path: they name nothing. */
export function parametersOf({ params, url }: FastifyRequest): Readonly<Record<string, string>> {
  const parameters = params as Readonly<Record<string, string>>;
  for (const name in parameters) {
    const length = parameters[name]?.length ?? 0;
    if (name !== "*" && (length === 0 || length > MAX_PARAMETER)) throw unknownPath(pathOf(url));
  }
  return parameters;
}

/** Why a request has no route: the path is unknown, or it does not offer the method. */
export function unroutedRequest({ method, url }: FastifyRequest): Fault | HttpError {
  const path = pathOf(url);
  const methods = allowedMethods(path);
  if (methods.length === 0) return unknownPath(path);
  const message = `${method} is not offered here; use ${methods.join(" or ")}`;
  const fault = new Fault({ kind: "unimplemented", feature: `${method} here` }, message);
  return new HttpError(fault, "method-not-allowed", { allow: methods.join(", ") });
}

/** The handler of a route: its own, the one it is an alias of, or a refusal. */
export function handlerOf(
  { operationId, aliasOf, offered }: Route & { readonly operationId: OperationId },
  handlers: Handlers,
): Handler<OwnOperation> {
  if (offered === false) return async () => rejectNotOffered(operationId);
  return handlers[(aliasOf ?? operationId) as OwnOperation];
}

const TEMPLATES = [...Map.groupBy(allRoutes(), ({ path }) => path)].map(([path, routes]) => ({
  pattern: new RegExp(
    `^${path.replace(/\/\{path\}$/, "(?:/.*)?").replaceAll(/\{\w+\}/g, `[^/]{1,${MAX_PARAMETER}}`)}/?$`,
  ),
  parameters: path.split("{").length,
  methods: routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
}));

/** The methods of a path; none for an unknown path. A path that is spelled out wins over one with parameters. */
function allowedMethods(path: string): readonly string[] {
  const decoded = decodeURI(path);
  const [best] = TEMPLATES.filter(({ pattern }) => pattern.test(decoded)).sort((a, b) => a.parameters - b.parameters);
  return best?.methods ?? [];
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] as string;
}

function unknownPath(path: string): Fault {
  return new Fault(
    { kind: "not-found", resource: "path", name: path },
    `There is nothing at ${path}. GET /openapi.json lists every path, /docs shows them.`,
  );
}

function rejectNotOffered(operation: string): never {
  throw new Fault(
    { kind: "unimplemented", feature: operation },
    "This path belongs to the data plane of the earlier implementation (artifacts, scripts, gateway) and is not offered by this control plane.",
  );
}
