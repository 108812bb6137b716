import { z } from "zod";
import { field, view } from "../../reading/fields.ts";
import { operationFields } from "../deployment/deployment-status.ts";

const count = (description: string) => field(description, z.int());
const counts = (description: string) => field(description, z.record(z.string(), z.int()));

/** The newest operation of a deployment, in a list. */
export const listedOperationView = view({
  deployment_key: field("Deployment key.", z.string()),
  ...operationFields,
  started_at: field("Time of the start.", z.string()),
  ended_at: field("Time of the end; null while it runs.", z.string().nullable()),
  requested_by: field("Caller, or the part of the package manager, that requested it.", z.string()),
});

/** A stated requirement that a class does not meet. */
export const violatedRequirementView = view({
  id: field("Deployment unit id.", z.string()),
  cluster: field("Cluster name.", z.string()),
  deployment_key: field("Deployment key; null when the cluster does not report it.", z.string().nullable()),
  package_name: field("Package name.", z.string()),
  class_key: field("Class key.", z.string()),
  component: field("Function key or `odgm`; empty for the class.", z.string()),
  requirement: field("Field of the requirement, e.g. `max_latency_ms`.", z.string()),
  required: field("Required value.", z.number()),
  observed: field("Measured value; null without enough samples.", z.number().nullable()),
  unit: field("Unit of both values.", z.string()),
  since: field("Time since which it is violated; null when unknown.", z.string().nullable()),
});

/** A new revision of a package or deployment. */
export const recentChangeView = view({
  kind: field("Kind of the object.", z.enum(["package", "deployment"])),
  key: field("Name of the package or key of the deployment.", z.string()),
  revision: field("Revision.", z.int()),
  author: field("Author of the change; null when unknown.", z.string().nullable()),
  reason: field("Reason given by the author; null if none.", z.string().nullable()),
  at: field("Time of the change.", z.string()),
  outcome: field("Outcome of the revision of a deployment; null for a package.", z.string().nullable()),
});

/** The state of everything in numbers, with the first items that need attention. */
export const overviewView = view({
  deployments: field(
    "Deployments.",
    view({
      total: count("Number of deployments."),
      by_condition: counts("Number by condition; conditions without a deployment are absent."),
      paused: count("Number of paused deployments."),
    }),
  ),
  class_runtimes: field(
    "Last known class runtimes of all clusters.",
    view({ total: count("Number of class runtimes."), by_condition: counts("Number by condition.") }),
  ),
  packages: field(
    "Packages.",
    view({ total: count("Number of packages."), disabled: count("Number of disabled packages.") }),
  ),
  clusters: field(
    "Clusters.",
    view({
      total: count("Number of clusters."),
      by_status: counts("Number by health."),
      cordoned: count("Number of cordoned clusters."),
    }),
  ),
  operations: field(
    "Operations on deployments; only the newest one of each deployment counts.",
    view({
      running: count("Number of operations under way."),
      failed: count("Number of failed operations."),
      items: field("Newest operations under way, at most 20.", z.array(listedOperationView)),
    }),
  ),
  violations: field(
    "Stated requirements that are measured and not met.",
    view({
      total: count("Number of violated requirements."),
      items: field("At most 20 of them.", z.array(violatedRequirementView)),
    }),
  ),
  recent_changes: field("Newest revisions, at most 20.", z.array(recentChangeView)),
  at: field("Time of this overview.", z.string()),
});
