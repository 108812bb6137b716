import { invalidArgument } from "@oaas/foundation";

/** What a table of routes is made of; `{name}` in a path stands for one segment, `{path}` at its end for any number of them. */
export interface RoutePlace {
  readonly method: string;
  readonly path: string;
}

export interface Match<Route> {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

/** As long as a name may be, and more. */
const MAX_PARAMETER = 512;
/** Paths whose route is remembered; who asks often asks for the same. */
const MAX_KNOWN = 1_024;
/** Longer paths are not worth their place. */
const MAX_KNOWN_PATH = 128;
const NO_PARAMETERS: Readonly<Record<string, string>> = {};

interface Place<Route> {
  readonly fixed: Map<string, Place<Route>>;
  /** Below this place one segment may be anything. */
  any: Place<Route> | undefined;
  /** Here and below, whatever follows. */
  readonly rest: Map<string, Mounted<Route>>;
  readonly here: Map<string, Mounted<Route>>;
}

interface Mounted<Route> {
  readonly route: Route;
  readonly names: readonly string[];
}

/**
 * Finds the route of a request by walking its path once.
 *
 * *Guarantees*: a segment that is spelled out wins over one that may be anything; a slash at the end makes no difference; GET routes
 * take HEAD. A path whose escapes cannot be read is refused.
 */
export class RouteTable<Route extends RoutePlace> {
  readonly #root: Place<Route> = newPlace();
  /** By method, then by path. */
  readonly #known = new Map<string, Map<string, Match<Route>>>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) this.#mount(route);
  }

  /** The route that takes this; undefined when none does. */
  match(method: string, path: string): Match<Route> | undefined {
    const known = this.#known.get(method)?.get(path);
    if (known !== undefined) return known;
    const match = this.#find(method, path);
    if (match !== undefined && path.length <= MAX_KNOWN_PATH) this.#remember(method, path, match);
    return match;
  }

  #find(method: string, path: string): Match<Route> | undefined {
    const segments = segmentsOf(path);
    const given: string[] = [];
    const mounted = find(this.#root, segments, 0, method === "HEAD" ? "GET" : method, given);
    return mounted && { route: mounted.route, parameters: parametersOf(mounted.names, given) };
  }

  /** The methods that a path takes; none for an unknown path. A path of its own is not taken for the name of something. */
  methods(path: string): readonly string[] {
    const methods = methodsAt(this.#root, segmentsOf(path), 0);
    return methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  }

  #remember(method: string, path: string, match: Match<Route>): void {
    let paths = this.#known.get(method);
    if (paths === undefined) this.#known.set(method, (paths = new Map()));
    if (paths.size >= MAX_KNOWN) paths.clear();
    paths.set(path, match);
  }

  #mount(route: Route): void {
    const names: string[] = [];
    let place = this.#root;
    const segments = segmentsOf(route.path);
    for (const [index, segment] of segments.entries()) {
      const name = /^\{(\w+)\}$/.exec(segment)?.[1];
      if (name === "path" && index === segments.length - 1) {
        place.rest.set(route.method, { route, names });
        return;
      }
      if (name !== undefined) names.push(name);
      place = name === undefined ? fixedPlace(place, segment) : (place.any ??= newPlace());
    }
    place.here.set(route.method, { route, names });
  }
}

function newPlace<Route>(): Place<Route> {
  return { fixed: new Map(), any: undefined, rest: new Map(), here: new Map() };
}

function fixedPlace<Route>(place: Place<Route>, segment: string): Place<Route> {
  let below = place.fixed.get(segment);
  if (below === undefined) place.fixed.set(segment, (below = newPlace()));
  return below;
}

function find<Route>(
  place: Place<Route>,
  segments: readonly string[],
  at: number,
  method: string,
  given: string[],
): Mounted<Route> | undefined {
  const segment = segments[at];
  if (segment === undefined) return place.here.get(method) ?? place.rest.get(method);
  const fixed = place.fixed.get(segment);
  const found = fixed && find(fixed, segments, at + 1, method, given);
  if (found) return found;
  if (place.any && isName(segment)) {
    given.push(segment);
    const named = find(place.any, segments, at + 1, method, given);
    if (named) return named;
    given.pop();
  }
  return place.rest.get(method);
}

function methodsAt<Route>(place: Place<Route>, segments: readonly string[], at: number): string[] {
  const segment = segments[at];
  if (segment === undefined) return [...place.here.keys(), ...place.rest.keys()];
  const fixed = place.fixed.get(segment);
  const own = fixed ? methodsAt(fixed, segments, at + 1) : [];
  if (own.length > 0) return own;
  const named = place.any && isName(segment) ? methodsAt(place.any, segments, at + 1) : [];
  return named.length > 0 ? named : [...place.rest.keys()];
}

function isName(segment: string): boolean {
  return segment !== "" && segment.length <= MAX_PARAMETER;
}

/** The decoded segments of a path, without the empty one that a slash at the end leaves. */
function segmentsOf(path: string): string[] {
  // The target of `OPTIONS *` and of requests to a proxy is no path, and nothing of ours.
  if (!path.startsWith("/")) return [path];
  const segments = path.slice(1).split("/");
  if (segments.length > 1 && segments.at(-1) === "") segments.pop();
  return path.includes("%") ? segments.map(decoded) : segments;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidArgument("the path", [{ path: "$", message: "is not a valid URL path", fix: "encode it" }]);
  }
}

function parametersOf(names: readonly string[], given: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMETERS;
  const parameters: Record<string, string> = {};
  for (let index = 0; index < names.length; index += 1) parameters[names[index] as string] = given[index] as string;
  return parameters;
}
