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
  expectedStackAccess,
  METRICS_ROUTES,
  restOperations,
  rpcRequirement,
  STACK_CREDENTIALS,
  STACK_ROUTES,
  type PlainRoute,
} from "../../../tests/security/src/access-table.ts";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The page of access rights; `tests/security` verifies each cell against running processes. */
export const generator: Generator = {
  name: "access-reference",
  produce: async () => new Map([["docs/security/access.md", accessPage()]]),
};

const SERVICES = [DeploymentService, CrmInfoService, TopologyService, HealthService, PackageService];

const routeCells = ({ verbs, path }: PlainRoute): string[] => [verbs.join(", "), `\`${path}\``];

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
  const metrics = METRICS_ROUTES.map((route) => [
    ...routeCells(route),
    route.requires,
    ...CREDENTIALS.map((credential) => expectedAccess("public", credential)),
  ]);
  const page = STACK_ROUTES.map((route) => [
    ...routeCells(route),
    route.requires,
    ...STACK_CREDENTIALS.map((credential) => expectedStackAccess(route, credential)),
  ]);
  return `# Access to the APIs

Generated from the contracts by \`tests/security/src/access-table.ts\`. Do not edit. The suite
\`tests/security\` sends every operation with every credential to running processes and compares the responses
with these tables.

- \`none\`: no credentials. \`wrong\`: an unknown token. \`expired\`: an expired JWT. \`unmapped\`: a valid JWT without a mapped
  role. The other columns are tokens with that role.
- \`served\`: the operation is executed. 401: the caller is not authenticated. 403: the caller lacks the role.

## REST API of the package manager

${table(["Operation", "Route", "Role", ...CREDENTIALS], rows)}

## Sessions of browsers

The console signs in with a token (\`POST /api/v1/session\`) or at the issuer (\`/api/v1/session/oidc/login\`, authorization code
with PKCE; \`OIDC_CLIENT_ID\`, \`OIDC_REDIRECT_URL\`). The browser gets a cookie that scripts cannot read; it has the role of the
token or of the claim. The columns above hold for it too.

| Rule | Value |
| --- | --- |
| Cookie | \`HttpOnly\`, \`SameSite=Strict\`, \`Path=/\`; with TLS or \`SESSION_COOKIE_SECURE=true\` also \`Secure\` and the prefix \`__Host-\` |
| End | \`DELETE /api/v1/session\`, \`SESSION_MAX_AGE\` (8 h), the end of the JWT, or the removal of the token from the token file |
| Requests that count | \`Sec-Fetch-Site: same-origin\` (or \`none\` for a read); without that header, an \`Origin\` of this host; else 403 |
| Writes | also \`x-csrf-token\` with \`csrf_token\` of \`GET /api/v1/session\`; else 403 |
| With a bearer token | the cookie does not count |
| Attempts to sign in | 20 in a burst, then one per 5 s, for each address; else 429 |
| Audit trail | \`createSession\`, \`finishOidcLogin\`, \`deleteSession\`, with the caller and without tokens |
| With \`AUTH_MODE=off\` | no sign-in; requests of other pages are rejected for every caller |

The reasons are in [ADR 0058](../adr/0058-sessions-for-browsers.md).

## Metrics port of both managers

The listeners of \`METRICS_PORT\` (package manager) and \`OPRC_CRM_METRICS_PORT\` (class runtime manager) have no
authentication and ignore credentials. They listen on loopback, where they reject requests of foreign web pages, unless
\`METRICS_HOST\` or \`OPRC_CRM_METRICS_HOST\` names another address. Other paths and verbs are answered with 404.

${table(["Verbs", "Path", "Role", ...CREDENTIALS], metrics)}

## Status page of the local stack

The page listens on loopback and rejects requests of foreign web pages, also with the secret. \`secret\`: the secret in
the stack's state file, which only its owner can read. Other verbs are answered with 405, other paths with 404.

${table(["Verbs", "Path", "Requires", ...STACK_CREDENTIALS], page)}

## gRPC

Methods of the class runtime manager, and \`PackageService\` of the package manager. The class runtime manager has tokens
and certificates with the roles viewer and deployer. \`reporter\`: only the class runtime manager of that cluster, with a
token of the role \`reporter@<cluster>\`, or a client certificate that \`OPRC_PM_SECURITY_GRPC_TLS_REPORTERS\` binds to it.

${table(["Service", "Method", "Requires"], methods)}
`;
}
