import { Radio } from "lucide-react";
import type { FeedEvent } from "../api/stream.ts";
import { m } from "../messages/en.ts";
import { Table } from "./page.tsx";
import { Empty } from "./states.tsx";
import { Status } from "./status.tsx";
import { Time } from "./time.tsx";

export function EventTable({ events }: { readonly events: readonly FeedEvent[] }) {
  if (events.length === 0) return <Empty icon={Radio} title={m.activity.noEvents} text={m.activity.noEventsText} />;
  return (
    <Table
      label={m.activity.stream}
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        { title: m.terms.time, cell: ({ at }) => <Time at={at} /> },
        { title: m.terms.topic, cell: ({ topic }) => topic, wide: true },
        { title: m.terms.object, cell: ({ key }) => <span className="font-medium break-all">{key}</span> },
        { title: m.terms.event, cell: ({ type }) => type },
        {
          title: m.terms.state,
          cell: ({ state }) => (state === undefined ? "–" : <Status state={state} label={m.states(state)} />),
        },
        { title: m.terms.message, wide: true, cell: ({ message }) => <span className="text-ink-2">{message}</span> },
      ]}
    />
  );
}
