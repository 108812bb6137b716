import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Database, Trash2, X } from "lucide-react";
import { useCallback, useState } from "react";
import { call, fetchValue } from "../../api/client.ts";
import type { StateCollection, StateObject, StateObjectSummary } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { useCan } from "../../api/session.ts";
import { m } from "../../messages/en.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { MoreTable, type Listed } from "../../ui/more-table.tsx";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Tag } from "../../ui/status.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.deployment.objects;
const PAGE = 100;

/** The objects in the state store of a deployment; the address names the one whose entries are shown. */
export function DeploymentObjects({ deploymentKey: key }: { readonly deploymentKey: string }) {
  const collections = useQuery({
    queryKey: ["deployment", key, "collections"],
    queryFn: ({ signal }) => fetchValue("listStateCollections", { path: { key }, signal }),
  });
  const [read] = useUrlState();
  if (collections.error instanceof ApiError && collections.error.problem.code === "OAAS_FAILED_PRECONDITION")
    return <Empty icon={Database} title={text.noState} text={text.noStateText} />;
  return (
    <Loaded query={collections} rows={3}>
      {(known) => {
        const shown = known.find(({ name }) => name === read("collection")) ?? known[0];
        if (shown === undefined) return <Empty icon={Database} title={text.noState} text={text.noStateText} />;
        return <CollectionObjects deploymentKey={key} collections={known} collection={shown} />;
      }}
    </Loaded>
  );
}

interface CollectionProps {
  readonly deploymentKey: string;
  readonly collections: readonly StateCollection[];
  readonly collection: StateCollection;
}

function CollectionObjects({ deploymentKey: key, collections, collection }: CollectionProps) {
  const [read, write] = useUrlState();
  const canRead = useCan("deployer");
  const { name, partition_count: partitions } = collection;
  const [partition, prefix, selected] = [read("partition"), read("prefix"), read("object")];
  const query = { collection: name, partition, prefix, limit: PAGE };
  const objects = useInfiniteQuery({
    queryKey: ["deployment", key, "objects", query],
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }): Promise<Listed<StateObjectSummary>> => {
      const { value, nextPageToken } = await call("listStateObjects", {
        path: { key },
        query: { ...query, page_token: pageParam },
        signal,
      });
      return { rows: value, next: nextPageToken ?? undefined };
    },
    getNextPageParam: ({ next }) => next,
  });
  return (
    <div className="space-y-4">
      <Panel flush>
        <div className="no-print flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
          <TextFilter
            label={text.prefix}
            value={prefix}
            onChange={useCallback((value: string) => write({ prefix: value }, true), [write])}
          />
          {collections.length > 1 && (
            <select
              aria-label={text.collection}
              className="field w-auto max-w-full"
              value={name}
              onChange={(event) => write({ collection: event.target.value, partition: "", object: "" })}
            >
              {collections.map((each) => (
                <option key={each.name}>{each.name}</option>
              ))}
            </select>
          )}
          {partitions > 1 && (
            <SelectFilter
              label={text.partition}
              value={partition}
              any={text.anyPartition(partitions)}
              options={Array.from(
                { length: partitions },
                (_, index) => [String(index), text.partitionOf(index)] as const,
              )}
              onChange={(value) => write({ partition: value })}
            />
          )}
          <p className="ml-auto text-sm text-ink-2">{text.layout(collection)}</p>
        </div>
        <MoreTable
          query={objects}
          label={text.label}
          empty={<Empty icon={Database} title={text.none} text={prefix === "" ? text.noneText : text.noneMatch} />}
        >
          {(rows) => (
            <Table
              label={text.label}
              rows={rows}
              keyOf={placeOf}
              columns={[
                {
                  title: text.id,
                  cell: (row) => <ObjectId row={row} canRead={canRead} isShown={selected === placeOf(row)} />,
                },
                { title: text.partition, numeric: true, cell: (row) => row.partition },
                { title: text.entries, numeric: true, wide: true, cell: (row) => row.entry_count },
                { title: text.version, numeric: true, wide: true, cell: ({ version }) => version },
              ]}
            />
          )}
        </MoreTable>
      </Panel>
      {selected !== "" && canRead && (
        <ObjectPanel key={selected} deploymentKey={key} collection={name} place={selected} />
      )}
    </div>
  );
}

function ObjectId({
  row,
  canRead,
  isShown,
}: {
  readonly row: StateObjectSummary;
  readonly canRead: boolean;
  readonly isShown: boolean;
}) {
  const [, write] = useUrlState();
  if (!canRead) return <code className="text-xs break-all">{row.id}</code>;
  return (
    <button
      type="button"
      className="link font-mono text-xs break-all"
      aria-pressed={isShown}
      onClick={() => write({ object: isShown ? "" : placeOf(row) })}
    >
      {row.id}
    </button>
  );
}

/** Identifies an object of a collection in the address. */
function placeOf({ partition, id }: Pick<StateObjectSummary, "partition" | "id">): string {
  return `${partition}/${id}`;
}

interface ObjectProps {
  readonly deploymentKey: string;
  readonly collection: string;
  readonly place: string;
}

function ObjectPanel({ deploymentKey: key, collection, place }: ObjectProps) {
  const [, write] = useUrlState();
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const { done } = useToasts();
  const [partition = "", ...rest] = place.split("/");
  const id = rest.join("/");
  const path = { key, collection, partition, object: id };
  const object = useQuery({
    // Not below the deployment, whose events fetch everything again, also an object that was just deleted.
    queryKey: ["state-object", path],
    queryFn: ({ signal }) => fetchValue("getStateObject", { path, signal }),
  });
  const close = (): void => write({ object: "" });
  return (
    <Panel
      title={id}
      flush
      actions={
        <span className="no-print flex items-center gap-2">
          <Button variant="danger" icon={Trash2} onClick={() => setDeleting(true)}>
            {text.delete}
          </Button>
          <IconButton label={m.common.close} icon={X} onClick={close} />
        </span>
      }
    >
      <Loaded query={object} rows={3}>
        {(value) => <Entries object={value} />}
      </Loaded>
      {isDeleting && (
        <ConfirmDialog
          title={text.deleteTitle(id)}
          action={text.delete}
          typed={id}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await call("deleteStateObject", { path });
            done(text.deleted(id));
            close();
            await queries.invalidateQueries({ queryKey: ["deployment", key, "objects"] });
          }}
        >
          <p>{text.deleteText}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}

function Entries({ object: { version, cluster, entries } }: { readonly object: StateObject }) {
  const rows = Object.entries(entries);
  return (
    <>
      <p className="border-b border-line px-4 py-2 text-sm text-ink-2">{text.readIn(version, cluster)}</p>
      {rows.length === 0 ? (
        <Empty title={text.noEntries} />
      ) : (
        <Table
          label={text.entries}
          rows={rows}
          keyOf={([name]) => name}
          columns={[
            { title: text.key, cell: ([name]) => <span className="font-medium break-all">{name}</span> },
            { title: text.form, wide: true, cell: ([, entry]) => <Tag>{formOf(entry)}</Tag> },
            {
              title: text.value,
              cell: ([, entry]) => (
                <pre className="max-h-80 overflow-auto font-mono text-xs break-all whitespace-pre-wrap">
                  {valueOf(entry)}
                </pre>
              ),
            },
          ]}
        />
      )}
    </>
  );
}

type Entry = StateObject["entries"][string];

function formOf({ text: plain, base64, type }: Entry): string {
  const form = base64 !== undefined ? "base64" : plain === undefined ? "JSON" : "text";
  return type === undefined ? form : `${form}, ${type}`;
}

function valueOf({ json, text: plain, base64 }: Entry): string {
  return base64 ?? plain ?? JSON.stringify(json, undefined, 2);
}
