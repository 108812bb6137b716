import { useQuery } from "@tanstack/react-query";
import { call, fetchValue } from "../../api/client.ts";
import { m } from "../../messages/en.ts";
import { Changes } from "../../ui/changes.tsx";
import { Panel } from "../../ui/page.tsx";
import { RevisionList } from "../../ui/revision-list.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useDeployment, useRefreshDeployment } from "./deployment-queries.ts";

const text = m.deployment;
/** Older revisions are a page away in the API. */
const SHOWN = 50;

export function DeploymentRevisions({
  deploymentKey: key,
  current,
}: {
  readonly deploymentKey: string;
  readonly current: number | undefined;
}) {
  const revisions = useQuery({
    queryKey: ["deployment", key, "revisions"],
    queryFn: ({ signal }) => fetchValue("listDeploymentRevisions", { path: { key }, query: { limit: SHOWN }, signal }),
  });
  const refresh = useRefreshDeployment(key);
  const { data: deployment } = useDeployment(key);
  const { done } = useToasts();
  return (
    <RevisionList
      name={key}
      revisions={revisions}
      current={current}
      columns={[
        {
          title: text.outcome,
          cell: ({ outcome }) => (outcome === undefined ? "–" : <Status state={outcome} label={m.states(outcome)} />),
        },
      ]}
      rollBackText={text.rollBackText}
      renderDiff={(from, to) => <RevisionDiff deploymentKey={key} from={from} to={to} />}
      onRollBack={async (body) => {
        await call("rollBackDeployment", { path: { key }, body, ifMatch: deployment?.etag });
        await refresh();
        done(m.revisions.rolledBack(key, body.revision));
      }}
    />
  );
}

function RevisionDiff({
  deploymentKey: key,
  from,
  to,
}: {
  readonly deploymentKey: string;
  readonly from: number;
  readonly to: number;
}) {
  const diff = useQuery({
    queryKey: ["deployment", key, "diff", from, to],
    queryFn: ({ signal }) => fetchValue("diffDeployment", { path: { key }, query: { from, to }, signal }),
  });
  return (
    <Panel title={m.revisions.changesFrom(from, to)}>
      <Loaded query={diff} rows={3}>
        {({ changes, resolved_changes: resolved }) => <Changes changes={[...changes, ...resolved]} />}
      </Loaded>
    </Panel>
  );
}
