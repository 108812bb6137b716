import type { Plan } from "../../api/contract.ts";
import { inline, money, percent } from "../../lib/format.ts";
import { downtimeMs } from "../../lib/format.ts";
import { quorumSteps } from "../../lib/quorum.ts";
import { duration } from "../../lib/time.ts";
import { m } from "../../messages/en.ts";
import { Changes } from "../../ui/changes.tsx";
import { Panel, Table } from "../../ui/page.tsx";
import { Notice, Status, Tag } from "../../ui/status.tsx";
import { Candidates } from "./candidates.tsx";

const text = m.plan;

/** A plan with every reason. */
export function PlanView({ plan }: { readonly plan: Plan }) {
  const { planned_availability: planned, cluster_loss: loss, price, changes, objects } = plan;
  return (
    <>
      {plan.state_loss != null && <Notice tone="bad" title={plan.state_loss} />}
      {plan.pause && <Notice tone="warn" title={text.paused} />}
      <div className="grid gap-4 sm:grid-cols-3">
        <Figure
          title={text.planned}
          value={percent(plan.achieved_availability)}
          note={text.downtime(duration(downtimeMs(plan.achieved_availability)))}
        >
          <Status
            state={plan.achieved_availability >= plan.target_availability ? "met" : "violated"}
            label={
              plan.achieved_availability >= plan.target_availability
                ? text.meets(percent(plan.target_availability))
                : text.misses(percent(plan.target_availability))
            }
          />
        </Figure>
        <Figure
          title={m.terms.replicas}
          value={String(plan.replicas)}
          note={plan.units.map(({ cluster }) => `${cluster} ${planned.replicas_by_cluster[cluster] ?? ""}`).join(" · ")}
        />
        <Figure
          title={text.price}
          value={
            Object.entries(price.totals)
              .map(([currency, value]) => money(value, currency))
              .join(" + ") || "–"
          }
          note={text.perMonth}
        >
          {price.clusters.some((each) => each.is_assumed) && (
            <span className="text-sm text-ink-3">{text.assumedRequests}</span>
          )}
        </Figure>
      </div>
      {planned.warning !== null && <Notice tone="warn" title={planned.warning} />}
      {loss != null && (
        <Notice tone={loss.quorum === "lost" ? "bad" : "ok"} title={loss.message}>
          <p>{loss.recovery}</p>
        </Notice>
      )}
      <Candidates clusters={plan.clusters} replicas={planned.replicas_by_cluster} />
      <Quorum plan={plan} />
      {changes !== null && (
        <Panel title={text.changes(changes.length)}>
          <Changes changes={changes} />
        </Panel>
      )}
      {objects !== undefined && <Objects objects={objects} />}
      <Panel title={text.functions} flush>
        <Table
          label={text.functions}
          rows={plan.units.flatMap(({ cluster, functions, template }) =>
            functions.map((each) => ({ ...each, cluster, template })),
          )}
          keyOf={({ cluster, function_key: key }) => `${cluster}/${key}`}
          columns={[
            { title: m.terms.function, cell: ({ function_key: key }) => <span className="font-medium">{key}</span> },
            { title: m.terms.cluster, cell: ({ cluster }) => cluster },
            {
              title: m.terms.replicas,
              numeric: true,
              cell: ({ min_scale: min, max_scale: max }) => (max === null ? `≥ ${min}` : `${min} … ${max}`),
            },
            { title: m.terms.reason, wide: true, cell: ({ reason }) => <span className="text-ink-2">{reason}</span> },
          ]}
        />
      </Panel>
      <Panel title={text.decisions}>
        <ol className="space-y-3">
          {plan.decisions.map(({ rule, outcome, inputs, would_change: change }, index) => (
            <li key={index}>
              <p className="font-medium">{outcome}</p>
              <p className="text-sm text-ink-2">{rule}</p>
              <p className="text-sm break-words text-ink-3">
                {Object.entries(inputs)
                  .map(([name, value]) => `${name} ${inline(value, 80)}`)
                  .join(" · ")}
                {change !== null && ` — ${text.wouldChange(change)}`}
              </p>
            </li>
          ))}
        </ol>
      </Panel>
    </>
  );
}

function Figure({
  title,
  value,
  note,
  children,
}: {
  readonly title: string;
  readonly value: string;
  readonly note: string;
  readonly children?: React.ReactNode;
}) {
  return (
    <section className="min-w-0 rounded-xl border border-line bg-surface p-4 shadow-[var(--shadow)]">
      <h2 className="text-sm text-ink-2">{title}</h2>
      <p className="num mt-0.5 text-xl font-semibold break-words">{value}</p>
      <p className="text-sm text-ink-2">{note}</p>
      {children !== undefined && <div className="mt-1.5">{children}</div>}
    </section>
  );
}

/** Why it is this number of replicas: each smaller number misses the target. */
function Quorum({ plan }: { readonly plan: Plan }) {
  const used = plan.clusters
    .filter(({ chosen }) => chosen)
    .flatMap(({ availability }) => (availability === null ? [] : [availability]));
  const steps = plan.algorithm === "quorum" ? quorumSteps(used, plan.replicas, plan.target_availability) : [];
  if (steps.length === 0) return null;
  return (
    <Panel title={text.quorum} flush>
      <p className="px-4 pt-3 text-sm text-ink-2">{text.quorumText(used.map(percent).join(", "))}</p>
      <Table
        label={text.quorum}
        rows={steps}
        keyOf={({ replicas }) => String(replicas)}
        columns={[
          { title: m.terms.replicas, numeric: true, cell: ({ replicas }) => replicas },
          { title: text.majority, numeric: true, cell: ({ majority }) => majority },
          { title: m.clusters.availability, numeric: true, cell: ({ availability }) => percent(availability) },
          {
            title: text.target,
            cell: ({ meets }) => (
              <Status
                state={meets ? "met" : "violated"}
                label={
                  meets ? text.meets(percent(plan.target_availability)) : text.misses(percent(plan.target_availability))
                }
              />
            ),
          },
        ]}
      />
    </Panel>
  );
}

function Objects({ objects }: { readonly objects: NonNullable<Plan["objects"]> }) {
  return (
    <Panel title={text.objects}>
      <ul className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
        {objects.clusters.map(({ cluster, counts, message }) => (
          <li key={cluster}>
            <span className="font-medium">{cluster}</span>{" "}
            <span className="text-ink-2">
              {message ??
                Object.entries(counts)
                  .map(([name, value]) => `${name} ${String(value)}`)
                  .join(" · ")}
            </span>
          </li>
        ))}
      </ul>
      <ul className="mt-3 space-y-3">
        {objects.changes.map((change) => (
          <li key={`${change.kind}/${change.name}/${change.change}`}>
            <p className="flex flex-wrap items-center gap-2">
              <Tag>{change.change}</Tag>
              <span className="font-medium break-all">{`${change.kind}/${change.name}`}</span>
              <span className="text-sm text-ink-3">{change.clusters.join(", ")}</span>
            </p>
            {change.message !== null && <p className="text-sm text-ink-2">{change.message}</p>}
            {change.fields.length > 0 && (
              <div className="mt-1 pl-4">
                <Changes
                  changes={change.fields.map(({ path, was, now }) => ({
                    path,
                    change: was === "" ? "added" : now === "" ? "removed" : "changed",
                    before: was || undefined,
                    after: now || undefined,
                  }))}
                />
              </div>
            )}
          </li>
        ))}
      </ul>
      {objects.more_changes > 0 && <p className="mt-2 text-sm text-ink-2">{text.more(objects.more_changes)}</p>}
    </Panel>
  );
}
