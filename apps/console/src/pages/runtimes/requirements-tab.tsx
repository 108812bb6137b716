import type { ClassRuntime } from "../../api/contract.ts";
import { measured, number } from "../../lib/format.ts";
import type { SampleHistory } from "../../lib/samples.ts";
import { m } from "../../messages/en.ts";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { RuntimeSignals } from "./signals.tsx";

const text = m.runtimes;

type Measurement = NonNullable<NonNullable<ClassRuntime["nfr_compliance"]>["measurements"]>[number];

/** The signals over time, and the requirements that they are compared with. */
export function RuntimeRequirements({
  runtime,
  history,
}: {
  readonly runtime: ClassRuntime;
  readonly history: SampleHistory;
}) {
  return (
    <div className="space-y-4">
      <RuntimeSignals runtime={runtime} history={history} />
      <Requirements runtime={runtime} />
      <Recommendations runtime={runtime} />
    </div>
  );
}

function Requirements({ runtime: { nfr_compliance: compliance } }: { readonly runtime: ClassRuntime }) {
  const measurements = compliance?.measurements ?? [];
  if (compliance == null || measurements.length === 0)
    return (
      <Panel>
        <Empty title={text.noRequirements} text={text.noRequirementsText} />
      </Panel>
    );
  return (
    <Panel title={text.tabs.requirements} flush>
      <Table
        label={text.tabs.requirements}
        rows={measurements}
        keyOf={({ component, requirement }) => `${component}/${requirement}`}
        columns={[
          {
            title: m.clusters.component,
            cell: ({ component }) => <span className="font-medium">{component || text.wholeClass}</span>,
          },
          { title: m.terms.requirement, cell: ({ requirement }) => m.requirements(requirement) },
          {
            title: m.terms.state,
            cell: ({ status }) => (status === undefined ? "–" : <Status state={status} label={m.states(status)} />),
          },
          { title: text.observed, cell: (row) => <Observed measurement={row} /> },
          {
            title: text.target,
            numeric: true,
            wide: true,
            cell: ({ required, unit }) => measured(required, unit),
          },
          {
            title: text.budget,
            numeric: true,
            wide: true,
            cell: ({ error_budget_left: left }) => (left === undefined ? "–" : measured(left, "ratio")),
          },
          {
            title: text.burn,
            wide: true,
            cell: ({ burn_rates: rates }) =>
              rates.length === 0
                ? "–"
                : rates.map((rate) => `${rate.long_window} ${number(rate.long_rate ?? 0)}`).join(" · "),
          },
        ]}
      />
      <p className="border-t border-line px-4 py-2 text-sm text-ink-3">
        {text.checked} <Time at={compliance.last_checked} />
      </p>
    </Panel>
  );
}

function Observed({ measurement: { observed, reason, unit } }: { readonly measurement: Measurement }) {
  return observed === undefined ? (
    <span className="text-ink-2">{reason ?? "–"}</span>
  ) : (
    <span className="num">{measured(observed, unit)}</span>
  );
}

function Recommendations({ runtime }: { readonly runtime: ClassRuntime }) {
  const list = runtime.status?.nfr_recommendations ?? [];
  if (list.length === 0) return null;
  return (
    <Panel title={text.recommendations} flush>
      <Table
        label={text.recommendations}
        rows={list}
        keyOf={({ component, dimension }) => `${component}/${dimension}`}
        columns={[
          { title: m.clusters.component, cell: ({ component }) => <span className="font-medium">{component}</span> },
          { title: text.dimension, cell: ({ dimension }) => dimension },
          {
            title: text.now,
            numeric: true,
            cell: ({ current, dimension }) => (current === undefined ? "–" : amount(current, dimension)),
          },
          { title: text.recommended, numeric: true, cell: ({ target, dimension }) => amount(target, dimension) },
          {
            title: text.confidence,
            numeric: true,
            wide: true,
            cell: ({ confidence }) => (confidence === undefined ? "–" : `${Math.round(confidence * 100)} %`),
          },
          { title: text.basis, wide: true, cell: ({ basis }) => <span className="text-sm text-ink-2">{basis}</span> },
        ]}
      />
    </Panel>
  );
}

function amount(value: number, dimension: string): string {
  if (dimension === "memory") return measured(value, "bytes");
  return dimension === "cpu" ? `${number(value)} m` : number(value);
}
