import { selectClass } from "../class-signals.ts";
import type { Dashboard } from "../model.ts";
import { CLASS_VARIABLES } from "./class-requirements.ts";

/** The largest value of a metric of kube-state-metrics, by object. */
const objectValue = (metric: string, label: string): string =>
  selectClass(`max by (namespace, ${label}) (${metric}{namespace=~$namespaces})`);

const hpa = (metric: string): string =>
  objectValue(`kube_horizontalpodautoscaler_${metric}`, "horizontalpodautoscaler");

/** Who scaled what, when, and within which limits. */
export const AUTOSCALING: Dashboard = {
  uid: "oaas-autoscaling",
  title: "OaaS / Autoscaling decisions",
  description: "Desired and ready replicas of classes, and the limits of their autoscalers.",
  variables: CLASS_VARIABLES,
  rows: [
    {
      title: "Enforcement",
      panels: [
        {
          title: "Changes",
          unit: "none",
          description:
            "Changes by enforcement within an hour, by dimension, lane and outcome. Runbook: EnforcementFails.",
          queries: [
            {
              expr: 'sum by (dimension, lane, outcome) (increase(crm_enforcement_actions_total{cluster=~"$cluster"}[1h]))',
              legend: "{{dimension}} {{lane}} {{outcome}}",
            },
          ],
        },
        {
          title: "Values kept, by reason",
          unit: "none",
          description:
            "Why values are not changed. at-maximum and frozen need someone. Runbooks: EnforcementAtMaximum, EnforcementFrozen.",
          queries: [
            { expr: 'sum by (reason) (crm_enforcement_held_values{cluster=~"$cluster"})', legend: "{{reason}}" },
          ],
        },
      ],
    },
    {
      title: "Replicas",
      panels: [
        {
          title: "Deployments: desired and ready",
          unit: "none",
          description: "Desired above ready for long means that pods do not start: see oaas explain.",
          queries: [
            { expr: objectValue("kube_deployment_spec_replicas", "deployment"), legend: "{{deployment}} desired" },
            {
              expr: objectValue("kube_deployment_status_replicas_ready", "deployment"),
              legend: "{{deployment}} ready",
            },
          ],
        },
        {
          title: "StatefulSets: desired and ready",
          unit: "none",
          description: "State stores scale in two phases and rarely.",
          queries: [
            { expr: objectValue("kube_statefulset_replicas", "statefulset"), legend: "{{statefulset}} desired" },
            {
              expr: objectValue("kube_statefulset_status_replicas_ready", "statefulset"),
              legend: "{{statefulset}} ready",
            },
          ],
        },
        {
          title: "Changes of desired replicas per hour",
          unit: "none",
          description: "Frequent changes mean flapping.",
          queries: [
            {
              expr: selectClass(
                "max by (namespace, deployment) (changes(kube_deployment_spec_replicas{namespace=~$namespaces}[1h]))",
              ),
              legend: "{{deployment}}",
            },
          ],
        },
      ],
    },
    {
      title: "Horizontal pod autoscalers",
      panels: [
        {
          title: "Desired and current replicas",
          unit: "none",
          description: "What each HPA wants and has.",
          queries: [
            { expr: hpa("status_desired_replicas"), legend: "{{horizontalpodautoscaler}} desired" },
            { expr: hpa("status_current_replicas"), legend: "{{horizontalpodautoscaler}} current" },
          ],
        },
        {
          title: "Limits",
          unit: "none",
          description: "Minimum and maximum. Desired replicas at the maximum for long: raise it or the requests.",
          queries: [
            { expr: hpa("spec_min_replicas"), legend: "{{horizontalpodautoscaler}} minimum" },
            { expr: hpa("spec_max_replicas"), legend: "{{horizontalpodautoscaler}} maximum" },
          ],
        },
      ],
    },
  ],
};
