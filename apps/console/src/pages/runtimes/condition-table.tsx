import { m } from "../../messages/en.ts";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const text = m.runtimes;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly last_transition_time?: string | null | undefined;
}

/** Kubernetes conditions, with the time of their last change where the server has it. */
export function ConditionTable({ conditions }: { readonly conditions: readonly Condition[] }) {
  const isDated = conditions.some(({ last_transition_time: at }) => at != null);
  return (
    <Panel title={text.conditions} flush>
      {conditions.length === 0 ? (
        <Empty title={text.noConditions} />
      ) : (
        <Table
          label={text.conditions}
          rows={conditions}
          keyOf={({ type }) => type}
          columns={[
            { title: text.condition, cell: ({ type }) => <span className="font-medium">{type}</span> },
            { title: m.terms.state, cell: ({ status }) => <Status state={status} label={m.states(status)} /> },
            ...(isDated
              ? [{ title: text.since, cell: ({ last_transition_time: at }: Condition) => <Time at={at} /> }]
              : []),
            { title: m.terms.reason, wide: true, cell: ({ reason }) => reason },
            {
              title: m.terms.message,
              wide: true,
              cell: ({ message }) => <span className="text-ink-2">{message}</span>,
            },
          ]}
        />
      )}
    </Panel>
  );
}
