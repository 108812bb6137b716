import type { OperationId, Reply } from "@oaas/contracts/rest";
import { stateText, type Colours } from "./colours.ts";
import type { View } from "./format.ts";
import { readyText, upToDateText } from "./replicas-text.ts";
import { ageText, percentText } from "./table.ts";

/** The item type of a list operation. */
type ItemOf<Id extends OperationId> = Reply<Id>["value"] extends readonly (infer T)[] ? T : never;

/** Shared inputs of all tables: the current time for ages, and colours. */
export interface TableContext {
  readonly now: number;
  readonly colours: Colours;
}

export function packageView({ now }: TableContext): View<ItemOf<"listPackages">> {
  return {
    kind: "package",
    nameOf: ({ name }) => name,
    columns: [
      { header: "NAME", cell: ({ name }) => name },
      { header: "VERSION", cell: ({ version }) => version ?? "-" },
      { header: "CLASSES", cell: ({ classes }) => String(classes.length) },
      { header: "FUNCTIONS", cell: ({ functions }) => String(functions.length) },
      { header: "AGE", cell: ({ metadata }) => ageText(metadata.created_at, now) },
      { header: "AUTHOR", isWide: true, cell: ({ metadata }) => metadata.author ?? "-" },
      { header: "TAGS", isWide: true, cell: ({ metadata }) => metadata.tags.join(", ") || "-" },
      { header: "DEPENDS ON", isWide: true, cell: ({ dependencies }) => dependencies.join(", ") || "-" },
    ],
  };
}

export function deploymentView({ now, colours }: TableContext): View<ItemOf<"listDeployments">> {
  return {
    kind: "deployment",
    nameOf: ({ key }) => key,
    columns: [
      { header: "KEY", cell: ({ key }) => key },
      { header: "CLASS", cell: ({ package_name, class_key }) => `${package_name}.${class_key}` },
      {
        header: "CONDITION",
        cell: ({ health, condition }) => stateText(health ?? titleCase(condition), colours),
      },
      {
        header: "CLUSTERS",
        cell: ({ status, target_envs }) => (status?.selected_envs ?? target_envs ?? []).join(", ") || "-",
      },
      { header: "AGE", cell: ({ created_at }) => ageText(created_at, now) },
      { header: "NAMESPACE", isWide: true, cell: ({ status }) => status?.namespaces?.join(", ") ?? "-" },
      { header: "REPLICAS", isWide: true, cell: ({ status }) => String(status?.replication_factor ?? "-") },
      {
        header: "PLANNED AVAILABILITY",
        isWide: true,
        cell: ({ status }) => percentText(status?.achieved_quorum_availability),
      },
    ],
  };
}

/** `RUNNING`, which package managers of earlier releases send without `health`, as `Running`. */
function titleCase(word: string): string {
  return word.slice(0, 1) + word.slice(1).toLowerCase();
}

export function classView(): View<ItemOf<"listClasses">> {
  return {
    kind: "class",
    nameOf: ({ key }) => key,
    columns: [
      { header: "KEY", cell: ({ key }) => key },
      {
        header: "FUNCTIONS",
        cell: ({ function_bindings }) => function_bindings.map(({ name }) => name).join(", ") || "-",
      },
      { header: "DESCRIPTION", cell: ({ description }) => description ?? "" },
    ],
  };
}

export function functionView(): View<ItemOf<"listFunctions">> {
  return {
    kind: "function",
    nameOf: ({ key }) => key,
    columns: [
      { header: "KEY", cell: ({ key }) => key },
      { header: "IMAGE", cell: ({ provision_config }) => provision_config?.container_image ?? "-" },
      { header: "DESCRIPTION", isWide: true, cell: ({ description }) => description ?? "" },
    ],
  };
}

export function clusterView({ now, colours }: TableContext): View<ItemOf<"listClusters">> {
  return {
    kind: "cluster",
    nameOf: ({ name }) => name,
    columns: [
      { header: "NAME", cell: ({ name }) => name },
      {
        header: "STATUS",
        cell: ({ health, cordon }) => stateText(health.status, colours) + (cordon ? ",Cordoned" : ""),
      },
      { header: "NODES", cell: ({ health }) => `${health.ready_nodes ?? "-"}/${health.node_count ?? "-"}` },
      { header: "AVAILABILITY", cell: ({ health }) => percentText(health.availability) },
      { header: "LAST SEEN", cell: ({ health }) => ageText(health.last_seen, now) },
      { header: "VERSION", isWide: true, cell: ({ health }) => health.crm_version ?? "-" },
    ],
  };
}

/** The cluster table with the error of each unreachable cluster. */
export function clusterErrorView(look: TableContext): View<ItemOf<"listClusters">> {
  const view = clusterView(look);
  return { ...view, columns: [...view.columns, { header: "ERROR", cell: ({ health }) => health.error ?? "" }] };
}

export function runtimeView({ now, colours }: TableContext): View<ItemOf<"listClassRuntimes">> {
  return {
    kind: "class-runtime",
    nameOf: ({ id }) => id,
    columns: [
      { header: "ID", cell: ({ id }) => id },
      { header: "CLASS", cell: ({ class_key }) => class_key },
      { header: "CLUSTER", cell: ({ cluster_name, target_environment }) => cluster_name ?? target_environment },
      {
        header: "CONDITION",
        cell: ({ status }) => stateText(status?.health ?? status?.condition ?? "Unknown", colours),
      },
      { header: "READY", cell: ({ status }) => readyText(status?.functions ?? []) },
      { header: "UP-TO-DATE", cell: ({ status }) => upToDateText(status?.functions ?? []) },
      { header: "AGE", cell: ({ created_at }) => ageText(created_at, now) },
      { header: "NAMESPACE", isWide: true, cell: ({ target_environment }) => target_environment },
      { header: "MESSAGE", isWide: true, cell: ({ status }) => status?.message ?? "" },
    ],
  };
}

export function auditView({ now, colours }: TableContext): View<ItemOf<"listAudit">> {
  return {
    kind: "audit",
    nameOf: ({ id }) => id,
    columns: [
      { header: "AGE", cell: ({ time }) => ageText(time, now) },
      {
        header: "ACTOR",
        cell: ({ actor }) => (actor.name === actor.subject ? actor.name : `${actor.subject} (${actor.name})`),
      },
      { header: "ACTION", cell: ({ action }) => action },
      { header: "TARGET", cell: ({ target }) => target },
      {
        header: "OUTCOME",
        cell: ({ outcome, status }) => stateText(`${outcome}${status === null ? "" : ` ${status}`}`, colours),
      },
      { header: "ADDRESS", isWide: true, cell: ({ actor }) => actor.address },
      { header: "REASON", isWide: true, cell: ({ reason }) => reason ?? "" },
      { header: "CORRELATION", isWide: true, cell: ({ correlation_id }) => correlation_id },
    ],
  };
}

export function packageRevisionView({ now }: TableContext): View<ItemOf<"listPackageRevisions">> {
  return {
    kind: "revision",
    nameOf: ({ revision }) => String(revision),
    columns: [
      { header: "REVISION", cell: ({ revision }) => String(revision) },
      { header: "AGE", cell: ({ created_at }) => ageText(created_at, now) },
      { header: "AUTHOR", cell: ({ author }) => author ?? "-" },
      { header: "REASON", cell: ({ reason }) => reason ?? "-" },
      { header: "DIGEST", isWide: true, cell: ({ digest }) => digest },
    ],
  };
}

export function deploymentRevisionView({ now, colours }: TableContext): View<ItemOf<"listDeploymentRevisions">> {
  return {
    kind: "revision",
    nameOf: ({ revision }) => String(revision),
    columns: [
      { header: "REVISION", cell: ({ revision }) => String(revision) },
      { header: "AGE", cell: ({ created_at }) => ageText(created_at, now) },
      { header: "OUTCOME", cell: ({ outcome }) => stateText(outcome, colours) },
      { header: "REACHED", cell: ({ outcome_at }) => (outcome_at ? ageText(outcome_at, now) : "-") },
      { header: "CLUSTERS", cell: ({ clusters }) => Object.keys(clusters).join(", ") || "-" },
      { header: "AUTHOR", cell: ({ author }) => author ?? "-" },
      { header: "REASON", cell: ({ reason }) => reason ?? "-" },
      { header: "PLAN", isWide: true, cell: ({ plan_digest }) => plan_digest ?? "-" },
    ],
  };
}
