import { shown, type TextRule } from "./text-rule.ts";

/** Where ODGM fetches a WASM module from. */
export const MODULE_URL: TextRule = {
  what: "the address of a WASM module",
  maxLength: 2048,
  objectionTo(text) {
    const fix = "write an address such as https://host/module.wasm";
    if (text.length > 2048) return { message: `has ${text.length} characters`, fix: "shorten it to at most 2048" };
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/]/i.test(text) || !URL.canParse(text)) {
      return { message: text === "" ? "is empty" : `${shown(text)} is not an address`, fix };
    }
    return undefined;
  },
};
