/** Built-in templates with their aliases. */
export const TEMPLATES = {
  dev: [],
  edge: [],
  full: ["prod", "production", "cloud"],
  k8s_deployment: ["deployment", "k8s"],
  knative: ["kn", "knsvc"],
  statefulset: [],
  daemonset: [],
  job: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Name of a built-in template. Users add templates with DeploymentTemplate objects. */
export type BuiltinTemplate = keyof typeof TEMPLATES;

/** Returns the built-in template of a name or alias, case-insensitive; undefined if there is none. */
export function builtinTemplate(name: string): BuiltinTemplate | undefined {
  const lowerName = name.toLowerCase();
  const found = Object.entries<readonly string[]>(TEMPLATES).find(
    ([template, aliases]) => template === lowerName || aliases.includes(lowerName),
  );
  return found?.[0] as BuiltinTemplate | undefined;
}
