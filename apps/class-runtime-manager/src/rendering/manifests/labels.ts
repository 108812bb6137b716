import { safeName } from "@oaas/kube-core";
import type { RenderInput } from "../model/render-input.ts";

/** On every child; selects all children of a class. */
export const OWNER_LABEL = "oaas.io/owner";
/** `function` or the id of an addon. */
export const COMPONENT_LABEL = "oaas.io/component";
/** The function key, shortened to fit a label; the annotation holds the full key. */
export const FUNCTION_LABEL = "oaas.io/function";
/** The deployment id, shortened to fit a label. */
export const DEPLOYMENT_LABEL = "oaas.io/deployment-id";
/** `package.Class`, shortened to fit a label. */
export const CLASS_LABEL = "oaas.io/class";
export const FUNCTION_KEY_ANNOTATION = "oaas.io/function-key";
/** Name of the EnvironmentConfig of the class. */
export const ENVIRONMENT_LABEL = "oaas.io/environment";
/** On headless Services: their pods are scraped through another Service. */
export const HEADLESS_LABEL = "oaas.io/headless";
/** Template that rendered a child. Set on the object only, so that a new template does not restart pods. */
export const TEMPLATE_ANNOTATION = "oaas.io/template";
/**
 * On Knative Services: the minimum scale that enforcement chose. The controller copies it to the current revision, since
 * another minimum in the template would be another revision, which restarts all pods.
 */
export const ENFORCED_MIN_SCALE_ANNOTATION = "oaas.io/enforced-min-scale";

export type Labels = Readonly<Record<string, string>>;

/** Labels that a workload selects its pods by. Selectors are immutable, so these never change. */
export function selectorLabels(input: RenderInput, app: string): Labels {
  return { app, [OWNER_LABEL]: ownerLabelValue(input.owner.name) };
}

/** The owner label value of a class. */
export function ownerLabelValue(className: string): string {
  return labelValue(className);
}

/** All labels of a child and its pods. Labels of the environment do not override these. */
export function componentLabels(input: RenderInput, app: string, component: string, functionKey?: string): Labels {
  const { spec, environment, owner } = input;
  return {
    ...environment?.spec.labels,
    ...selectorLabels(input, app),
    [COMPONENT_LABEL]: component,
    "app.kubernetes.io/managed-by": "oprc-crm",
    [DEPLOYMENT_LABEL]: labelValue(spec.origin?.deployment_id ?? owner.name),
    ...(functionKey === undefined ? {} : { [FUNCTION_LABEL]: labelValue(functionKey) }),
    ...(spec.package_class_key === undefined ? {} : { [CLASS_LABEL]: labelValue(spec.package_class_key) }),
    ...(environment === undefined ? {} : { [ENVIRONMENT_LABEL]: labelValue(environment.name) }),
  };
}

/** Converts text to a label value; invalid text is shortened with a hash. */
export function labelValue(text: string): string {
  return safeName([text], { kind: "label-value" });
}
