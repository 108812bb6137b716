import { CREDENTIALS, expectedAccess, restOperations } from "../../../tests/security/src/access-table.ts";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The page of access rights; `tests/security` verifies each cell against a running package manager. */
export const generator: Generator = {
  name: "access-reference",
  produce: async () => new Map([["docs/security/access.md", accessPage()]]),
};

function accessPage(): string {
  const operations = restOperations().filter(({ isOffered }) => isOffered);
  const rows = operations.map(({ id, method, path, role }) => [
    id,
    `\`${method} ${path}\``,
    role,
    ...CREDENTIALS.map((credential) => expectedAccess(role, credential)),
  ]);
  return `# Access to the REST API

Generated from the routes of the contract by \`tests/security/src/access-table.ts\`. Do not edit. The suite
\`tests/security\` sends every operation with every credential to a running package manager and compares the responses
with this table.

- \`none\`: no credentials. \`wrong\`: an unknown token. \`expired\`: an expired JWT. \`unmapped\`: a valid JWT without a mapped
  role. The other columns are tokens with that role.
- \`served\`: the operation is executed. 401: the caller is not authenticated. 403: the caller lacks the role.

${table(["Operation", "Route", "Role", ...CREDENTIALS], rows)}
`;
}
