import { daemonSetTemplate } from "./builtin/daemonset.ts";
import { devTemplate } from "./builtin/dev.ts";
import { edgeTemplate } from "./builtin/edge.ts";
import { fullTemplate } from "./builtin/full.ts";
import { jobTemplate } from "./builtin/job.ts";
import { k8sDeploymentTemplate } from "./builtin/k8s-deployment.ts";
import { knativeTemplate } from "./builtin/knative.ts";
import { statefulSetTemplate } from "./builtin/statefulset.ts";
import type { Template } from "./template.ts";

/** The built-in templates; of equal scores the earlier one wins. */
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
