import { useEvents } from "../../api/feed-context.tsx";
import { m } from "../../messages/en.ts";
import { EventTable } from "../../ui/event-table.tsx";
import { Panel } from "../../ui/page.tsx";

/** Events of the deployment and of its units since the console was opened. */
export function DeploymentEvents({
  deploymentKey,
  unitIds,
}: {
  readonly deploymentKey: string;
  readonly unitIds: readonly string[];
}) {
  const keys = new Set([deploymentKey, ...unitIds]);
  const events = useEvents().filter(({ key }) => keys.has(key));
  return (
    <Panel title={m.activity.stream} flush>
      <EventTable events={events} />
    </Panel>
  );
}
