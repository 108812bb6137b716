import { allRoutes } from "@oaas/contracts/rest";

const MATCHERS = allRoutes().map((route) => ({ ...route, matches: matcherOf(route.path) }));

/** Below the gateway any path is the same one. */
function matcherOf(path: string): RegExp {
  const pattern = path
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{path\}$/, ".*")
    .replaceAll(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`);
}

/** The methods that a path takes; none for an unknown path. A path of its own is not taken for the name of something. */
export function methodsOf(path: string): readonly string[] {
  const methods = new Set<string>();
  const own = MATCHERS.filter((route) => route.path === path);
  for (const { method } of own.length > 0 ? own : MATCHERS.filter(({ matches }) => matches.test(path))) {
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
  }
  return [...methods];
}

/** A path as the server's router writes it. */
export function routerPath(path: string): string {
  return path.replace(/\{path\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}
