import { invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { DevStackConfig } from "./config.ts";

/** Rejects flags that contradict --node, or that need it. */
export function checkNodeFlags({ clusters, functions, noCluster }: DevStackConfig): void {
  const { node, real, contexts, images } = clusters;
  const others = [
    ...(real ? ["--real"] : []),
    ...(contexts.length > 0 ? ["--context"] : []),
    ...(functions === "local" ? ["--functions=local"] : []),
    ...(noCluster ? ["--no-cluster"] : []),
  ];
  if (node && others.length > 0) {
    throw invalidSetting("OAAS_STACK_NODE", `excludes ${others.join(", ")}`, "use one of them");
  }
  if (!node && images.length > 0) {
    throw invalidSetting("OAAS_STACK_IMAGES", "needs real nodes", "add --node");
  }
}

const MAX_LISTED = 4;
const LAST_PORT = 65_535;

/** Resolves `--ports` into the individual port settings. */
export function resolvePorts(config: DevStackConfig): DevStackConfig {
  const { ports, server, clusters } = config;
  if (ports.length === 0) return config;
  if (ports.length > MAX_LISTED) {
    throw invalidPorts(
      `has ${ports.length} ports`,
      "use at most four: package manager, status page, API servers, managers",
    );
  }
  const [first = 0, page = 0, apiPort = 0, managerPort = 0] = ports.length === 1 ? consecutivePorts(config) : ports;
  return {
    ...config,
    server: { ...server, port: first },
    pagePort: page,
    clusters: { ...clusters, apiPort, managerPort },
  };
}

/** Consecutive ports: package manager, status page, then an API server and a manager for each cluster. */
function consecutivePorts({ ports: [base = 0], clusters }: DevStackConfig): readonly number[] {
  if (base === 0) return [0, 0, 0, 0];
  const count = clusters.contexts.length > 0 ? clusters.contexts.length : clusters.node ? 1 : clusters.count;
  if (base + 2 * count + 1 > LAST_PORT) {
    throw invalidPorts(`leaves no room for ${2 * count + 2} ports starting at ${base}`, "use a lower port");
  }
  return [base, base + 1, base + 2, base + 2 + count];
}

function invalidPorts(message: string, fix: string): Error {
  return invalidSetting("OAAS_STACK_PORTS", message, fix);
}

function invalidSetting(name: string, message: string, fix: string): Error {
  return invalidArgument("the configuration", [{ path: pathOf(ROOT_PATH, name), message, fix }]);
}

/**
 * Renames `--node` to the flag of its variable. It is not an alias, because npm sets the variable NODE to the path of
 * Node.
 */
export function renameNodeFlag(args: readonly string[]): readonly string[] {
  return args.map((arg) => arg.replace(/^--node(?==|$)/, "--oaas-stack-node"));
}

/** Joins a repeated flag into one: `--a=x --a y` becomes `--a=x,y`. */
export function joinRepeatedFlag(args: readonly string[], flag: string): readonly string[] {
  const lead = `${flag}=`;
  const rest: string[] = [];
  const values: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const [arg = "", next] = args.slice(index, index + 2);
    if (arg.startsWith(lead)) values.push(arg.slice(lead.length));
    else if (arg === flag && next?.startsWith("--") === false) {
      values.push(next);
      index += 1;
    } else rest.push(arg);
  }
  return values.length < 2 ? args : [...rest, lead + values.join(",")];
}
