/** Real components: the list (manifest), how to obtain one (obtain, recipes), its path (component-file). */
export type { Component, Tier } from "./component.ts";
export { COMPONENTS, componentOf, type ComponentFileName, type ComponentName } from "./manifest.ts";
export { cacheDir, componentFolder, isPresent, onPath } from "./cache/cache.ts";
export { componentFile, missingComponents } from "./cache/component-file.ts";
export { componentsOf, elapsedText, ensureComponents, ensureEach, reportText } from "./ensure.ts";
export { obtain, type ObtainOptions } from "./obtain.ts";
export type { ComponentReport, ComponentState } from "./obtain-error.ts";
