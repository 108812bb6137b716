import { patternRule, shown, type TextRule } from "./text-rule.ts";

const MAX_LENGTH = 2048;

function addressRule(what: string, scheme: string, fix: string): TextRule {
  const form = new RegExp(`^${scheme}://[^\\s/]\\S*$`);
  return {
    what,
    maxLength: MAX_LENGTH,
    pattern: form.source,
    objectionTo(text) {
      if (text === "") return { message: "is empty", fix };
      if (text.length > MAX_LENGTH) {
        return { message: `has ${text.length} characters`, fix: `shorten it to at most ${MAX_LENGTH}` };
      }
      const accepted = form.test(text) && URL.canParse(text);
      return accepted ? undefined : { message: `${shown(text)} is not ${what}`, fix };
    },
  };
}

/** Where ODGM fetches a WASM module from; any scheme that names a host. */
export const MODULE_URL = addressRule(
  "the address of a WASM module",
  "[A-Za-z][A-Za-z0-9+.-]*",
  "write an address such as https://host/module.wasm",
);

/** Where a cluster's CRM answers. */
export const ENDPOINT_URL = addressRule(
  "an http or https address",
  "[Hh][Tt][Tt][Pp][Ss]?",
  "write an address such as http://crm:8088 or https://crm:8088",
);

/** Where a file is on the machine of the process that reads it. */
export const FILE_PATH = patternRule({
  what: "the path of a file",
  pattern: /^\S(.*\S)?$/,
  maxLength: 4096,
  fix: "write the path of a file, such as /run/secrets/token",
});
