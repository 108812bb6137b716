/**
 * Templates render the children of a class. They are pure: their only input is `RenderInput`.
 *
 * Reading order: ../rendering (model, plan, manifests, workloads), ../odgm (the state store), template (the interface),
 * render-class (how a class is put together), builtin/ and user-template/ (the templates), selection/ (which template,
 * and why), environment/ (quotas and checks).
 */
export {
  type Manifest,
  type Rendered,
  type RenderedFunction,
  type RenderedOdgm,
  type ReplicasOwner,
  type WorkloadRef,
} from "../rendering/model/rendered.ts";
export { type Owner, type RenderInput, type ExistingStore } from "../rendering/model/render-input.ts";
export { type Template, type TemplateScore } from "./template.ts";
export {
  clusterDomainOf,
  type Capabilities,
  type ClusterFacts,
  type Environment,
  type Features,
  type Profile,
  type Router,
} from "../rendering/model/cluster-facts.ts";
export { findTemplate, selectTemplate, type Basis, type ScoreRow, type Selection } from "./selection/select.ts";
export { templateStatus } from "./selection/select.ts";
export { type Refusal } from "./template.ts";
export { BUILTIN_TEMPLATES } from "./builtin/registry.ts";
export { ADDONS, selectAddons } from "./addons.ts";
export { type Addon, type RenderedAddon } from "../rendering/addon.ts";
export { chooseAndRender, type SelectedAndRendered } from "./selection/choose-and-render.ts";
export { replicasHandover } from "../rendering/workloads/replicas-handover.ts";
export { userTemplate } from "./user-template/user-template.ts";
export { rollOut, type RollOut, type TemplateUser } from "./user-template/roll-out.ts";
export { PATHS as TEMPLATE_PLACEHOLDERS } from "./user-template/scope.ts";
export {
  addDemand,
  checkQuotas,
  demandOf,
  fitsQuota,
  isWithin,
  limitsOf,
  NO_DEMAND,
  subtractDemand,
  type Demand,
  type Limits,
  type QuotaRequest,
} from "./environment/quota.ts";
export { classRequirements, functionRequirements, type Requirements } from "../rendering/plan/requirements.ts";
export {
  COMPONENT_LABEL,
  ENFORCED_MIN_SCALE_ANNOTATION,
  FUNCTION_KEY_ANNOTATION,
  FUNCTION_LABEL,
  HEADLESS_LABEL,
  labelValue,
  OWNER_LABEL,
  ownerLabelValue,
  TEMPLATE_ANNOTATION,
} from "../rendering/manifests/labels.ts";
export { podReferences, type PodReference, type ReferenceKind } from "../rendering/manifests/pod-references.ts";
export { FUNCTION_CONTAINER } from "../rendering/manifests/pod.ts";
export { monitorNames, odgmNames } from "../rendering/plan/names.ts";
