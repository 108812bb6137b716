import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { serviceHost, type ClassPlan, type FunctionPlan } from "../../rendering/plan/class-plan.ts";

type Given = NonNullable<NonNullable<NonNullable<ClassRuntimeSpec["odgm_config"]>["invocations"]>["fn_routes"]>[string];

/** How the data grid reaches one function, as its `ODGM_COLLECTION` says it. */
export interface Route {
  readonly url: string;
  readonly stateless: boolean;
  readonly standby: boolean;
  readonly active_group: readonly number[];
  readonly wasm_module_url: string | null;
}

/** All routes by name, sorted, and the names that may not be invoked. */
export interface Invocations {
  readonly fn_routes: Readonly<Record<string, Route>>;
  readonly disabled_fn: readonly string[];
}

/**
 * Routes that the class gives (an empty address filled in, a short host made a full one), its bindings, and every
 * function that neither names: under the last part of its key, or under the whole key where that is taken.
 */
export function invocationsOf(plan: ClassPlan): Invocations {
  const { spec } = plan.input;
  const given = spec.odgm_config?.invocations;
  const functions = new Map(plan.functions.map((fn) => [fn.key, fn]));
  const bindings = spec.function_bindings ?? [];
  const routes = new Map<string, Route>();
  const routed = new Set<string>();

  for (const [name, route] of Object.entries(given?.fn_routes ?? {})) {
    const key = route.function_key ?? bindings.find((binding) => binding.name === name)?.function_key;
    const fn = key === undefined ? undefined : functions.get(key);
    if (key !== undefined) routed.add(key);
    const url = urlOf(plan, route, fn);
    if (url !== "") routes.set(name, routeTo(url, fn, route));
  }
  for (const { name, function_key: key, stateless } of bindings) {
    const fn = functions.get(key);
    routed.add(key);
    if (fn === undefined || fn.url === "" || routes.has(name)) continue;
    routes.set(name, routeTo(fn.url, fn, { stateless }));
  }
  // By key, so that the order of functions does not decide which of two gets the short name.
  for (const fn of [...plan.functions].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    if (fn.url === "" || routed.has(fn.key)) continue;
    const short = fn.key.slice(fn.key.lastIndexOf(".") + 1);
    routes.set(routes.has(short) ? fn.key : short, routeTo(fn.url, fn, {}));
  }
  return {
    fn_routes: Object.fromEntries([...routes].sort(([a], [b]) => (a < b ? -1 : 1))),
    disabled_fn: [...(given?.disabled_fn ?? [])].sort(),
  };
}

function routeTo(url: string, fn: FunctionPlan | undefined, given: Partial<Given>): Route {
  return {
    url,
    stateless: given.stateless ?? true,
    standby: given.standby ?? false,
    active_group: given.active_group ?? [],
    wasm_module_url: given.wasm_module_url ?? fn?.spec.provision_config?.wasm_module_url ?? null,
  };
}

/**
 * The address that works: the function's own when none is given, or when the one given is that of a child whose name the
 * sender had to guess; else the one given, with its host made a full name.
 */
function urlOf(plan: ClassPlan, given: Given, fn: FunctionPlan | undefined): string {
  if (given.url === "" || given.url.startsWith("wasm://")) return fn?.url ?? given.url;
  const short = SHORT_HOST.exec(given.url)?.groups;
  if (short === undefined) return given.url;
  const host = short["host"] ?? "";
  if (fn !== undefined && fn.url !== "" && isPredictedName(host, plan)) return fn.url;
  return `http://${serviceHost(plan.input, host)}${short["port"] ?? ""}/${short["path"] ?? ""}`;
}

/** `http://name`, with or without `:80` and a path, where the name has no dot. */
const SHORT_HOST = /^http:\/\/(?<host>[^./:]+)(?::80)?(?<port>:\d+)?(?:\/(?<path>.*))?$/;

function isPredictedName(host: string, plan: ClassPlan): boolean {
  return host === plan.base || (/^-fn-\d+$/.test(host.slice(plan.base.length)) && host.startsWith(plan.base));
}
