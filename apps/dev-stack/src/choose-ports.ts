import { invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { DevStackConfig } from "./config.ts";

const MAX_LISTED = 4;
const LAST_PORT = 65_535;

/** The configuration with `--ports` spelled out as the ports it stands for. */
export function withChosenPorts(config: DevStackConfig): DevStackConfig {
  const { ports, server, clusters } = config;
  if (ports.length === 0) return config;
  if (ports.length > MAX_LISTED) {
    throw wrong(`names ${ports.length} ports`, "name at most four: package manager, page, API servers, managers");
  }
  const [first = 0, page = 0, apiPort = 0, managerPort = 0] = ports.length === 1 ? counted(config) : ports;
  return {
    ...config,
    server: { ...server, port: first },
    pagePort: page,
    clusters: { ...clusters, apiPort, managerPort },
  };
}

/** From one number on: package manager, page, then an API server and a manager for each cluster. */
function counted({ ports: [base = 0], clusters }: DevStackConfig): readonly number[] {
  if (base === 0) return [0, 0, 0, 0];
  const count = clusters.contexts.length > 0 ? clusters.contexts.length : clusters.count;
  if (base + 2 * count + 1 > LAST_PORT) {
    throw wrong(`leaves no room for ${2 * count + 2} ports from ${base} on`, "begin at a lower one");
  }
  return [base, base + 1, base + 2, base + 2 + count];
}

function wrong(message: string, fix: string): Error {
  return invalidArgument("the configuration", [{ path: pathOf(ROOT_PATH, "OAAS_STACK_PORTS"), message, fix }]);
}
