import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call, fetchValue } from "../../api/client.ts";
import { m } from "../../messages/en.ts";
import { Changes } from "../../ui/changes.tsx";
import { Panel } from "../../ui/page.tsx";
import { RevisionList } from "../../ui/revision-list.tsx";
import { Loaded } from "../../ui/states.tsx";
import { useToasts } from "../../ui/toast.tsx";

/** Older revisions are a page away in the API. */
const SHOWN = 50;

export function PackageRevisions({ name, etag }: { readonly name: string; readonly etag: string | undefined }) {
  const revisions = useQuery({
    queryKey: ["package", name, "revisions"],
    queryFn: ({ signal }) => fetchValue("listPackageRevisions", { path: { name }, query: { limit: SHOWN }, signal }),
  });
  const queries = useQueryClient();
  const { done } = useToasts();
  return (
    <RevisionList
      name={name}
      revisions={revisions}
      current={revisions.data?.[0]?.revision}
      rollBackText={m.packages.rollBackText}
      renderDiff={(from, to) => <RevisionDiff name={name} from={from} to={to} />}
      onRollBack={async (body) => {
        await call("rollBackPackage", { path: { name }, body, ifMatch: etag });
        await Promise.all([
          queries.invalidateQueries({ queryKey: ["package", name] }),
          queries.invalidateQueries({ queryKey: ["packages"] }),
        ]);
        done(m.revisions.rolledBack(name, body.revision));
      }}
    />
  );
}

function RevisionDiff({ name, from, to }: { readonly name: string; readonly from: number; readonly to: number }) {
  const diff = useQuery({
    queryKey: ["package", name, "diff", from, to],
    queryFn: ({ signal }) => fetchValue("diffPackage", { path: { name }, query: { from, to }, signal }),
  });
  return (
    <Panel title={m.revisions.changesFrom(from, to)}>
      <Loaded query={diff} rows={3}>
        {({ changes }) => <Changes changes={changes} />}
      </Loaded>
    </Panel>
  );
}
