import { safeName } from "@oaas/kube-core";
import type { RenderInput } from "../model/render-input.ts";

/** Carried by every child, and by which all children of a class are found. */
export const OWNER_LABEL = "oaas.io/owner";
/** `function` or the id of an addon. */
export const COMPONENT_LABEL = "oaas.io/component";
/** The function's key, shortened where a label cannot hold it; the annotation has it whole. */
export const FUNCTION_LABEL = "oaas.io/function";
export const FUNCTION_KEY_ANNOTATION = "oaas.io/function-key";
/** Template a child was rendered with. On the object only: changing the template alone does not restart pods. */
export const TEMPLATE_ANNOTATION = "oaas.io/template";

export type Labels = Readonly<Record<string, string>>;

/** The labels a workload selects its pods by. They may never change: selectors are immutable. */
export function selectorLabels(input: RenderInput, app: string): Labels {
  return { app, [OWNER_LABEL]: ownerLabelValue(input.owner.name) };
}

/** The value of the owner label for the class of this name. */
export function ownerLabelValue(className: string): string {
  return labelValue(className);
}

/** All labels of a child and its pods. The environment's labels never replace ours. */
export function componentLabels(input: RenderInput, app: string, component: string, functionKey?: string): Labels {
  const { spec, environment, owner } = input;
  return {
    ...environment?.spec.labels,
    ...selectorLabels(input, app),
    [COMPONENT_LABEL]: component,
    "app.kubernetes.io/managed-by": "oprc-crm",
    "oaas.io/deployment-id": labelValue(spec.origin?.deployment_id ?? owner.name),
    ...(functionKey === undefined ? {} : { [FUNCTION_LABEL]: labelValue(functionKey) }),
    ...(spec.package_class_key === undefined ? {} : { "oaas.io/class": labelValue(spec.package_class_key) }),
    ...(environment === undefined ? {} : { "oaas.io/environment": labelValue(environment.name) }),
  };
}

/** Any text as a label value: itself when it is one, else shortened with a hash. */
export function labelValue(text: string): string {
  return safeName([text], { kind: "label-value" });
}
