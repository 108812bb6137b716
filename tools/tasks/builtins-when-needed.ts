import { RUNTIME_MODULE_ID, type Plugin } from "rolldown";

/**
 * Loads built-in modules when the importing module runs. An import would load them at the start of the bundle with all
 * their exports, and `node:http` exports all of `fetch`.
 */
export const builtinsWhenNeeded: Plugin = {
  name: "builtins-when-needed",
  // Helpers of the bundler import modules too, and run before the replacement is defined.
  resolveId: (id, importer) =>
    id.startsWith("node:") && importer !== RUNTIME_MODULE_ID ? { id: `\0${id}`, moduleSideEffects: false } : undefined,
  load: (id) =>
    id.startsWith("\0node:")
      ? { code: `module.exports = process.getBuiltinModule("${id.slice(1)}");`, moduleType: "js" }
      : undefined,
};
