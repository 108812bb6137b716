import {
  CrmInfoService,
  DeploymentService,
  HealthService,
  PackageService,
  TopologyService,
} from "@oaas/contracts/grpc";
import {
  CREDENTIALS,
  expectedAccess,
  restOperations,
  rpcRequirement,
} from "../../../tests/security/src/access-table.ts";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The page of access rights; `tests/security` verifies each cell against a running package manager. */
export const generator: Generator = {
  name: "access-reference",
  produce: async () => new Map([["docs/security/access.md", accessPage()]]),
};

const SERVICES = [DeploymentService, CrmInfoService, TopologyService, HealthService, PackageService];

function accessPage(): string {
  const operations = restOperations().filter(({ isOffered }) => isOffered);
  const rows = operations.map(({ id, method, path, role }) => [
    id,
    `\`${method} ${path}\``,
    role,
    ...CREDENTIALS.map((credential) => expectedAccess(role, credential)),
  ]);
  const methods = SERVICES.flatMap((service) =>
    service.methods.map((method) => [service.name, method.name, rpcRequirement(method)]),
  );
  return `# Access to the APIs

Generated from the contracts by \`tests/security/src/access-table.ts\`. Do not edit. The suite
\`tests/security\` sends every operation with every credential to running managers and compares the responses
with these tables.

- \`none\`: no credentials. \`wrong\`: an unknown token. \`expired\`: an expired JWT. \`unmapped\`: a valid JWT without a mapped
  role. The other columns are tokens with that role.
- \`served\`: the operation is executed. 401: the caller is not authenticated. 403: the caller lacks the role.

## REST API of the package manager

${table(["Operation", "Route", "Role", ...CREDENTIALS], rows)}

## gRPC

Methods of the class runtime manager, and \`PackageService\` of the package manager. The class runtime manager has tokens
and certificates with the roles viewer and deployer. \`reporter\`: only the class runtime manager of that cluster, with a
token of the role \`reporter@<cluster>\`.

${table(["Service", "Method", "Requires"], methods)}
`;
}
