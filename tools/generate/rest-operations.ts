import { allRoutes } from "../../packages/contracts/src/rest/paths.ts";
import type { Generator } from "./generator.ts";

/** What a client without schemas needs of each route, in one line: method, path, the statuses that bring a value, and a media type other than JSON. */
export const generator: Generator = {
  name: "rest-operations",
  owns: ["packages/contracts/src/rest/gen"],
  async produce() {
    const lines = allRoutes().map(({ operationId, method, path, answer, otherAnswers = [] }) => {
      const statuses = [answer, ...otherAnswers]
        .filter(({ status, schema }) => status < 400 || schema !== undefined)
        .map(({ status }) => String(status));
      const words = [method, path, ...statuses, ...(answer.mediaType === undefined ? [] : [answer.mediaType])];
      return `  ${operationId}: ${JSON.stringify(words.join(" "))},\n`;
    });
    const text = `// Generated from packages/contracts/src/rest/paths.ts by \`npm run generate\`. Do not edit.
export const OPERATIONS = {
${lines.join("")}} as const;
`;
    return new Map([["packages/contracts/src/rest/gen/operations.ts", text]]);
  },
};
