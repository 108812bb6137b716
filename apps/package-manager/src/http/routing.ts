import { allRoutes } from "@oaas/contracts/rest";

const MATCHERS = allRoutes().map((route) => ({ method: route.method, matches: matcherOf(route.path) }));

/** Below the gateway any path is the same one. */
function matcherOf(path: string): RegExp {
  const pattern = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{path\}$/, ".*")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`);
}

/** The methods that a path takes; none for an unknown path. */
export function methodsOf(path: string): readonly string[] {
  const methods = new Set<string>();
  for (const { method, matches } of MATCHERS) {
    if (!matches.test(path)) continue;
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
  }
  return [...methods];
}

/** A path as the server's router writes it. */
export function routerPath(path: string): string {
  return path.replace(/\{path\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}
