import { daemonSetTemplate } from "./daemonset.ts";
import { devTemplate } from "./dev.ts";
import { edgeTemplate } from "./edge.ts";
import { fullTemplate } from "./full.ts";
import { jobTemplate } from "./job.ts";
import { k8sDeploymentTemplate } from "./k8s-deployment.ts";
import { knativeTemplate } from "./knative.ts";
import { statefulSetTemplate } from "./statefulset.ts";
import type { Template } from "../template.ts";

/** The built-in templates; the first of equal scores wins. */
export const BUILTIN_TEMPLATES: readonly Template[] = [
  devTemplate,
  edgeTemplate,
  fullTemplate,
  k8sDeploymentTemplate,
  knativeTemplate,
  statefulSetTemplate,
  daemonSetTemplate,
  jobTemplate,
];
