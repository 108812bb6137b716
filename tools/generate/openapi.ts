import { openApiDocument } from "../../packages/contracts/src/rest/openapi.ts";
import type { Generator } from "./generator.ts";

/** The OpenAPI document of the Package Manager, from its route table and schemas. */
export const generator: Generator = {
  name: "openapi",
  owns: ["packages/contracts/openapi"],
  async produce() {
    const text = `${JSON.stringify(openApiDocument("1.0.0"), null, 2)}\n`;
    return new Map([["packages/contracts/openapi/pm.v1.json", text]]);
  },
};
