import { openApiDocument } from "../../../packages/contracts/src/rest/openapi/document.ts";
import { allRoutes } from "../../../packages/contracts/src/rest/routes/table.ts";
import type { Generator } from "../generator.ts";

/** The OpenAPI document of the package manager, from its route table and schemas. */
export const openapi: Generator = {
  name: "openapi",
  owns: ["packages/contracts/openapi"],
  async produce() {
    const text = `${JSON.stringify(openApiDocument("1.0.0"), null, 2)}\n`;
    return new Map([["packages/contracts/openapi/pm.v1.json", text]]);
  },
};

/** The routes for the client without schemas, one line each: method, path, success statuses, media type if not JSON. */
export const operations: Generator = {
  name: "rest-operations",
  owns: ["packages/contracts/src/rest/client/gen"],
  async produce() {
    const lines = allRoutes().map(({ operationId, method, path, response, otherResponses = [] }) => {
      const statuses = [response, ...otherResponses]
        .filter(({ status, schema }) => status < 400 || schema !== undefined)
        .map(({ status }) => String(status));
      const words = [method, path, ...statuses, ...(response.mediaType === undefined ? [] : [response.mediaType])];
      return `  ${operationId}: ${JSON.stringify(words.join(" "))},\n`;
    });
    const text = `// Generated from packages/contracts/src/rest/routes/table.ts by \`npm run generate\`. Do not edit.
export const OPERATIONS = {
${lines.join("")}} as const;
`;
    return new Map([["packages/contracts/src/rest/client/gen/operations.ts", text]]);
  },
};
