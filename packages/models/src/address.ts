import { shown, type TextRule } from "./text-rule.ts";

const MAX_LENGTH = 2048;

function addressRule(what: string, schemes: RegExp, fix: string): TextRule {
  return {
    what,
    maxLength: MAX_LENGTH,
    objectionTo(text) {
      if (text === "") return { message: "is empty", fix };
      if (text.length > MAX_LENGTH) {
        return { message: `has ${text.length} characters`, fix: `shorten it to at most ${MAX_LENGTH}` };
      }
      const accepted = schemes.test(text) && /^[^:]+:\/\/[^\s/]\S*$/.test(text) && URL.canParse(text);
      return accepted ? undefined : { message: `${shown(text)} is not ${what}`, fix };
    },
  };
}

/** Where ODGM fetches a WASM module from; any scheme that names a host. */
export const MODULE_URL = addressRule(
  "the address of a WASM module",
  /^[a-z][a-z0-9+.-]*:\/\//i,
  "write an address such as https://host/module.wasm",
);

/** Where a cluster's CRM answers. */
export const ENDPOINT_URL = addressRule(
  "an http or https address",
  /^https?:\/\//i,
  "write an address such as http://crm:8088 or https://crm:8088",
);
