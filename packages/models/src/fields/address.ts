import { patternRule, quoteText, type TextRule } from "./text-rule.ts";

const MAX_LENGTH = 2048;

function addressRule(what: string, scheme: string, fix: string): TextRule {
  const form = new RegExp(`^${scheme}://[^\\s/]\\S*$`);
  return {
    what,
    maxLength: MAX_LENGTH,
    pattern: form.source,
    findProblem(text) {
      if (text === "") return { message: "is empty", fix };
      if (text.length > MAX_LENGTH) {
        return { message: `has ${text.length} characters`, fix: `shorten it to at most ${MAX_LENGTH}` };
      }
      const accepted = form.test(text) && URL.canParse(text);
      return accepted ? undefined : { message: `${quoteText(text)} is not ${what}`, fix };
    },
  };
}

/** Address of a WASM module for ODGM; any scheme with a host. */
export const MODULE_URL = addressRule(
  "the address of a WASM module",
  "[A-Za-z][A-Za-z0-9+.-]*",
  "use an address such as https://host/module.wasm",
);

/** Address of a cluster's CRM. */
export const ENDPOINT_URL = addressRule(
  "an http or https address",
  "[Hh][Tt][Tt][Pp][Ss]?",
  "use an address such as http://crm:8088 or https://crm:8088",
);

/** Path of a file on the machine of the process that reads it. */
export const FILE_PATH = patternRule({
  what: "the path of a file",
  pattern: /^\S(.*\S)?$/,
  maxLength: 4096,
  fix: "use the path of a file, such as /run/secrets/token",
});
