/** The built-in templates, each with the other names it answers to. */
export const TEMPLATES = {
  dev: [],
  edge: [],
  full: ["prod", "production"],
  k8s_deployment: ["deployment", "k8s"],
  knative: ["kn", "knsvc"],
  statefulset: [],
  daemonset: [],
  job: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A built-in template's own name. Users add more with DeploymentTemplate objects. */
export type BuiltinTemplate = keyof typeof TEMPLATES;

/** The built-in template that a name or alias stands for, whatever its case; undefined for any other name. */
export function builtinTemplate(name: string): BuiltinTemplate | undefined {
  const wanted = name.toLowerCase();
  const found = Object.entries<readonly string[]>(TEMPLATES).find(
    ([template, aliases]) => template === wanted || aliases.includes(wanted),
  );
  return found?.[0] as BuiltinTemplate | undefined;
}
