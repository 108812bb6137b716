import { useCallback } from "react";
import { Plus } from "lucide-react";
import { Link } from "wouter";
import { call } from "../../api/client.ts";
import type { PackageSummary } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { curl, oaas } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { Status, Tag } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { VirtualTable, type Column } from "../../ui/virtual-table.tsx";

function hrefOf({ name }: PackageSummary): string {
  return `/packages/${encodeURIComponent(name)}`;
}

const COLUMNS: readonly Column<PackageSummary>[] = [
  {
    id: "name",
    title: m.terms.package_name,
    sort: "name",
    width: "minmax(0,2fr)",
    cell: (row) => (
      <Link href={hrefOf(row)} className="font-medium hover:underline">
        {row.name}
      </Link>
    ),
  },
  {
    id: "version",
    title: m.packages.version,
    width: "minmax(4rem,0.7fr)",
    cell: ({ version }) => <span className="num">{version ?? "–"}</span>,
  },
  {
    id: "classes",
    title: m.packages.classes,
    width: "minmax(0,1.5fr)",
    wide: true,
    cell: ({ classes }) => <span className="text-ink-2">{classes.join(", ")}</span>,
  },
  {
    id: "functions",
    title: m.terms.functions,
    width: "6rem",
    wide: true,
    cell: ({ functions }) => <span className="num">{functions}</span>,
  },
  {
    id: "tags",
    title: m.packages.tags,
    width: "minmax(0,1fr)",
    wide: true,
    cell: ({ tags }) => (
      <span className="flex gap-1">
        {tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </span>
    ),
  },
  {
    id: "state",
    title: m.terms.state,
    width: "7rem",
    wide: true,
    cell: ({ disabled }) => (
      <Status state={disabled ? "Disabled" : "available"} label={disabled ? m.packages.disabled : m.packages.enabled} />
    ),
  },
  {
    id: "updated",
    title: m.terms.updated,
    sort: "updated_at",
    width: "6rem",
    wide: true,
    cell: ({ updated_at: at }) => <Time at={at} />,
  },
];

export default function PackageListPage() {
  const [read, write] = useUrlState();
  const canDeploy = useCan("deployer");
  const [filter, disabled, sort] = [read("filter"), read("disabled"), read("sort", "name")];
  const query = { name_pattern: filter, disabled, sort };
  const onFilter = useCallback((next: string) => write({ filter: next }, true), [write]);
  const create = canDeploy && (
    <LinkButton href="/new-package" variant="primary" icon={Plus}>
      {m.packages.create}
    </LinkButton>
  );
  return (
    <>
      <PageHeader
        title={m.nav.packages}
        commands={[oaas("get packages"), curl(location.origin, "/api/v1/packages")]}
        actions={create}
      />
      <div className="no-print mb-3 flex flex-wrap items-center gap-2">
        <TextFilter label={m.packages.filter} value={filter} onChange={onFilter} />
        <SelectFilter
          label={m.terms.state}
          value={disabled}
          options={[
            ["false", m.packages.enabled],
            ["true", m.packages.disabled],
          ]}
          onChange={(next) => write({ disabled: next })}
        />
      </div>
      <Panel flush>
        <VirtualTable
          label={m.nav.packages}
          queryKey={["packages", query]}
          fetchPage={async (offset, limit, signal) => {
            const { value, total } = await call("listPackageSummaries", { query: { ...query, offset, limit }, signal });
            return { rows: value, total };
          }}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          hrefOf={hrefOf}
          sort={sort}
          onSort={(next) => write({ sort: next })}
          empty={
            filter !== "" || disabled !== "" ? (
              <Empty title={m.common.noMatch}>
                <Button onClick={() => write({ filter: "", disabled: "" })}>{m.common.clearFilters}</Button>
              </Empty>
            ) : (
              <Empty title={m.packages.none} text={m.packages.noneText}>
                {create}
              </Empty>
            )
          }
        />
      </Panel>
    </>
  );
}
