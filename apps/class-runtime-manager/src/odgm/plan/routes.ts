import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { serviceHost, type ClassPlan, type FunctionPlan } from "../../rendering/plan/class-plan.ts";

type Given = NonNullable<NonNullable<NonNullable<ClassRuntimeSpec["odgm_config"]>["invocations"]>["fn_routes"]>[string];

/** How the state store invokes a function, in the format of `ODGM_COLLECTION`. */
export interface Route {
  readonly url: string;
  readonly stateless: boolean;
  readonly standby: boolean;
  readonly active_group: readonly number[];
  readonly wasm_module_url: string | null;
}

/** All routes by name, sorted, and the disabled function names. */
export interface Invocations {
  readonly fn_routes: Readonly<Record<string, Route>>;
  readonly disabled_fn: readonly string[];
}

/**
 * Routes of the class (with URLs completed), routes of bindings, and one route for every other function: under the last
 * part of its key, or under the full key when that name is taken.
 */
export function invocationsOf(plan: ClassPlan): Invocations {
  const { spec } = plan.input;
  const stated = spec.odgm_config?.invocations;
  const functions = new Map(plan.functions.map((fn) => [fn.key, fn]));
  const bindings = spec.function_bindings ?? [];
  const routes = new Map<string, Route>();
  const routed = new Set<string>();

  for (const [name, route] of Object.entries(stated?.fn_routes ?? {})) {
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
  // Sorted by key, so that the order of functions does not decide which one gets the short name.
  for (const fn of [...plan.functions].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    if (fn.url === "" || routed.has(fn.key)) continue;
    const short = fn.key.slice(fn.key.lastIndexOf(".") + 1);
    routes.set(routes.has(short) ? fn.key : short, routeTo(fn.url, fn, {}));
  }
  return {
    fn_routes: Object.fromEntries([...routes].sort(([a], [b]) => (a < b ? -1 : 1))),
    disabled_fn: [...(stated?.disabled_fn ?? [])].sort(),
  };
}

function routeTo(url: string, fn: FunctionPlan | undefined, stated: Partial<Given>): Route {
  return {
    url,
    stateless: stated.stateless ?? true,
    standby: stated.standby ?? false,
    active_group: stated.active_group ?? [],
    wasm_module_url: stated.wasm_module_url ?? fn?.spec.provision_config?.wasm_module_url ?? null,
  };
}

/**
 * The URL of the function when none is stated, or when the stated one names a predicted child; otherwise the stated URL
 * with a full host name.
 */
function urlOf(plan: ClassPlan, stated: Given, fn: FunctionPlan | undefined): string {
  if (stated.url === "" || stated.url.startsWith("wasm://")) return fn?.url ?? stated.url;
  const short = SHORT_HOST.exec(stated.url)?.groups;
  if (short === undefined) return stated.url;
  const host = short["host"] ?? "";
  if (fn !== undefined && fn.url !== "" && isPredictedName(host, plan)) return fn.url;
  return `http://${serviceHost(plan.input, host)}${short["port"] ?? ""}/${short["path"] ?? ""}`;
}

/** `http://name` with optional `:80` and path, where the name has no dot. */
const SHORT_HOST = /^http:\/\/(?<host>[^./:]+)(?::80)?(?<port>:\d+)?(?:\/(?<path>.*))?$/;

function isPredictedName(host: string, plan: ClassPlan): boolean {
  return host === plan.base || (/^-fn-\d+$/.test(host.slice(plan.base.length)) && host.startsWith(plan.base));
}
