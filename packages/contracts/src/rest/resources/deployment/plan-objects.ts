import { z } from "zod";
import { field, view } from "../../reading/fields.ts";

const change = z.enum(["create", "update", "delete", "unchanged", "blocked"]);

/** One object in one cluster. */
export const clusterObjectView = view({
  kind: field("Kubernetes kind.", z.string()),
  name: field("Object name.", z.string()),
  change: field("What applying the plan does to it; `blocked` objects are desired, but cannot be applied.", change),
  message: field("Why it is blocked; null if it is not.", z.string().nullable()),
});

/** Objects by change. */
export const objectCountsView = view({
  create: field("Objects to create.", z.int()),
  update: field("Objects to update.", z.int()),
  delete: field("Objects to delete.", z.int()),
  unchanged: field("Objects that stay as they are.", z.int()),
  blocked: field("Objects that cannot be applied.", z.int()),
});

/** The objects of the unit in one cluster. */
export const clusterObjectsView = view({
  cluster: field("Cluster name.", z.string()),
  unit_id: field("Unit id.", z.string()),
  state: field(
    "`rendered`: compared with the cluster. `removed`: the unit and all its objects are deleted, because the plan leaves the cluster. `refused`: the cluster would refuse the unit. `unknown`: the cluster could not be asked.",
    z.enum(["rendered", "removed", "refused", "unknown"]),
  ),
  message: field("Why the unit is refused or its objects are unknown; null otherwise.", z.string().nullable()),
  namespace: field("Namespace of the objects; null unless rendered.", z.string().nullable()),
  template: field("Template that the cluster selects; null unless rendered.", z.string().nullable()),
  counts: field("Number of objects by change.", objectCountsView),
  objects: field("The objects that change, the class runtime first.", z.array(clusterObjectView)),
  more_objects: field("Further changed objects that are not listed.", z.int()),
  warnings: field("Accepted settings that do not work as stated.", z.array(z.string())),
});

export const changedFieldView = view({
  path: field("Path in the object.", z.string()),
  was: field("JSON of the current value, shortened and masked if it may be a secret; empty if absent.", z.string()),
  now: field("JSON of the new value; empty if the field is removed.", z.string()),
});

/** One change, in all clusters in which it is the same. */
export const objectChangeView = view({
  change: field("What happens to the object.", change),
  kind: field("Kubernetes kind.", z.string()),
  name: field("Object name; `{unit}` stands for the unit id where the names differ by cluster.", z.string()),
  clusters: field("Clusters with this change.", z.array(z.string())),
  fields: field("Changed fields of an update.", z.array(changedFieldView)),
  more_fields: field("Further fields that are not listed.", z.int()),
  message: field("Why it is blocked; null if it is not.", z.string().nullable()),
});

/** The Kubernetes objects that applying a plan creates, changes or deletes. */
export const planObjectsView = view({
  clusters: field("The objects of each unit, by cluster.", z.array(clusterObjectsView)),
  changes: field("One difference over all clusters; equal changes are listed once.", z.array(objectChangeView)),
  more_changes: field("Further changes that are not listed.", z.int()),
});

export type PlanObjectsWire = z.output<typeof planObjectsView>;
