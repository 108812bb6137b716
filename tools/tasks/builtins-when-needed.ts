import { RUNTIME_MODULE_ID, type Plugin } from "rolldown";

/**
 * Node's own modules are got when the module that imports them runs, and not imported: an import is made at the start of the whole file,
 * with every member that a module has, and `node:http` has all of `fetch`.
 */
export const builtinsWhenNeeded: Plugin = {
  name: "builtins-when-needed",
  // The bundler's own helpers import as well, and run before there is a way to get anything.
  resolveId: (id, importer) =>
    id.startsWith("node:") && importer !== RUNTIME_MODULE_ID ? { id: `\0${id}`, moduleSideEffects: false } : undefined,
  load: (id) =>
    id.startsWith("\0node:")
      ? { code: `module.exports = process.getBuiltinModule("${id.slice(1)}");`, moduleType: "js" }
      : undefined,
};
