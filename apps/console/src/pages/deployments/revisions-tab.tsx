import { useQuery } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { call, fetchValue } from "../../api/client.ts";
import { useCan } from "../../api/session.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { Changes } from "../../ui/changes.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Panel, Table } from "../../ui/page.tsx";
import { RevisionButton } from "../../ui/revision-button.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useUrlState } from "../../ui/use-url.ts";
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
  const [read, write] = useUrlState();
  const [target, setTarget] = useState<number>();
  const canDeploy = useCan("deployer");
  const refresh = useRefreshDeployment(key);
  const { data: deployment } = useDeployment(key);
  const { done } = useToasts();
  const shown = Number(read("revision", String(current ?? 0)));
  return (
    <div className="space-y-4">
      <Panel flush>
        <Loaded query={revisions}>
          {(list) => (
            <Table
              label={text.tabs.revisions}
              rows={list}
              keyOf={({ revision }) => String(revision)}
              columns={[
                {
                  title: m.terms.revision,
                  cell: ({ revision }) => (
                    <RevisionButton
                      revision={revision}
                      isShown={revision === shown}
                      isCurrent={revision === current}
                      onClick={() => write({ revision: String(revision) })}
                    />
                  ),
                },
                {
                  title: text.outcome,
                  cell: ({ outcome }) =>
                    outcome === undefined ? "–" : <Status state={outcome} label={m.states(outcome)} />,
                },
                { title: m.terms.author, cell: ({ author }) => author, wide: true },
                { title: m.terms.reason, cell: ({ reason }) => reason ?? "–", wide: true },
                { title: m.terms.time, cell: ({ created_at: at }) => <Time at={at} /> },
                {
                  title: m.terms.actions,
                  cell: ({ revision }) =>
                    canDeploy &&
                    revision !== current && (
                      <Button icon={Undo2} onClick={() => setTarget(revision)}>
                        {m.common.rollBack}
                      </Button>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {shown > 1 && <RevisionDiff deploymentKey={key} from={shown - 1} to={shown} title={text.changesOf(shown)} />}
      {target !== undefined && (
        <ConfirmDialog
          title={text.rollBackTitle(key, target)}
          action={m.common.rollBack}
          withReason
          onClose={() => setTarget(undefined)}
          onConfirm={async (reason) => {
            await call("rollBackDeployment", {
              path: { key },
              body: { revision: target, ...(reason && { reason }) },
              ifMatch: deployment?.etag,
            });
            await refresh();
            done(text.rolledBack(key, target));
          }}
        >
          <p>{text.rollBackText}</p>
          {current !== undefined && (
            <RevisionDiff deploymentKey={key} from={current} to={target} title={text.changesFrom(current, target)} />
          )}
        </ConfirmDialog>
      )}
    </div>
  );
}

function RevisionDiff({
  deploymentKey: key,
  from,
  to,
  title,
}: {
  readonly deploymentKey: string;
  readonly from: number;
  readonly to: number;
  readonly title: string;
}) {
  const diff = useQuery({
    queryKey: ["deployment", key, "diff", from, to],
    queryFn: ({ signal }) => fetchValue("diffDeployment", { path: { key }, query: { from, to }, signal }),
  });
  return (
    <Panel title={title}>
      <Loaded query={diff} rows={3}>
        {({ changes, resolved_changes: resolved }) => <Changes changes={[...changes, ...resolved]} />}
      </Loaded>
    </Panel>
  );
}
