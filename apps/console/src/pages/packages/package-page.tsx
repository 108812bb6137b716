import { useQuery } from "@tanstack/react-query";
import { Rocket, Trash2 } from "lucide-react";
import { useState } from "react";
import { useLocation } from "wouter";
import { call, fetchValue } from "../../api/client.ts";
import type { Package } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { curl, oaas } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ObjectLink } from "../../ui/object-link.tsx";
import { DataList, PageHeader, Panel, Table, Tabs } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Status, Tag } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { PackageDependencies } from "./dependencies.tsx";
import { PackageEditor } from "./package-editor.tsx";
import { PackageRevisions } from "./revisions-tab.tsx";

const text = m.packages;
const TABS = ["content", "edit", "revisions", "dependencies"] as const;

export default function PackagePage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const name = params["name"] ?? "";
  const [read] = useUrlState();
  const tab = read("tab", "content");
  const canDeploy = useCan("deployer");
  const query = useQuery({
    queryKey: ["package", name, "current"],
    queryFn: async ({ signal }) => {
      const { value, etag } = await call("getPackage", { path: { name }, signal });
      return { value, etag: etag ?? undefined };
    },
  });
  const path = `/packages/${encodeURIComponent(name)}`;
  const value = query.data?.value;
  return (
    <>
      <PageHeader
        title={name}
        crumbs={[{ label: m.nav.packages, href: "/packages" }]}
        status={
          value && (
            <Status
              soft
              state={value.disabled ? "Disabled" : "available"}
              label={value.disabled ? text.disabled : text.enabled}
            />
          )
        }
        meta={
          value && (
            <p>
              {text.versionOf(value.version ?? "–")} · {m.terms.updated} <Time at={value.metadata?.updated_at} />
              {value.metadata?.description != null && ` · ${value.metadata.description}`}
            </p>
          )
        }
        actions={value && canDeploy && <Actions pkg={value} etag={query.data?.etag} />}
        commands={[
          oaas(`get package ${name} -o yaml`),
          curl(location.origin, `/api/v1/packages/${encodeURIComponent(name)}`),
        ]}
      />
      <Tabs
        tabs={TABS.filter((id) => id !== "edit" || canDeploy).map((id) => ({ id, label: text.tabs[id] }))}
        active={tab}
        hrefOf={(id) => (id === "content" ? path : `${path}?tab=${id}`)}
      />
      <Loaded query={query}>
        {({ value: pkg, etag }) => (
          <>
            {tab === "content" && <Content pkg={pkg} />}
            {tab === "edit" && <PackageEditor key={name} name={name} pkg={pkg} etag={etag} />}
            {tab === "revisions" && <PackageRevisions name={name} etag={etag} />}
            {tab === "dependencies" && <PackageDependencies name={name} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Actions({ pkg: { name, classes }, etag }: { readonly pkg: Package; readonly etag: string | undefined }) {
  const [asked, setAsked] = useState(false);
  const [cascade, setCascade] = useState(false);
  const [, navigate] = useLocation();
  const { done } = useToasts();
  const first = classes[0]?.key ?? "";
  return (
    <>
      <LinkButton
        href={`/plan?package=${encodeURIComponent(name)}&class=${encodeURIComponent(first)}`}
        variant="primary"
        icon={Rocket}
      >
        {text.deploy}
      </LinkButton>
      <Button icon={Trash2} variant="danger" onClick={() => setAsked(true)}>
        {text.delete}
      </Button>
      {asked && (
        <ConfirmDialog
          title={text.deleteTitle(name)}
          action={text.delete}
          typed={name}
          onClose={() => setAsked(false)}
          onConfirm={async () => {
            await call("deletePackage", { path: { name }, query: { cascade: cascade || undefined }, ifMatch: etag });
            done(text.deleted(name));
            navigate("/packages");
          }}
        >
          <p>{text.deleteText}</p>
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={cascade} onChange={(event) => setCascade(event.target.checked)} />{" "}
            {text.cascade}
          </label>
        </ConfirmDialog>
      )}
    </>
  );
}

function Content({ pkg }: { readonly pkg: Package }) {
  const deployed = useQuery({
    queryKey: ["deployments", { package_name: pkg.name }, "of-package"],
    queryFn: ({ signal }) => fetchValue("listDeployments", { query: { package_name: pkg.name, limit: 20 }, signal }),
  });
  return (
    <div className="space-y-4">
      <Panel title={text.deployed} flush>
        <Loaded query={deployed} rows={2}>
          {(list) =>
            list.length === 0 ? (
              <Empty title={text.notDeployed} />
            ) : (
              <Table
                label={text.deployed}
                rows={list}
                keyOf={({ key }) => key}
                columns={[
                  {
                    title: m.terms.deployment,
                    cell: ({ key }) => <ObjectLink list="deployments" name={key} />,
                  },
                  {
                    title: m.terms.condition,
                    cell: (row) => (
                      <Status state={row.health ?? row.condition} label={m.states(row.health ?? row.condition)} />
                    ),
                  },
                  { title: m.terms.class, cell: ({ class_key: key }) => key, wide: true },
                  { title: m.terms.clusters, cell: ({ status }) => status?.selected_envs?.join(", "), wide: true },
                ]}
              />
            )
          }
        </Loaded>
      </Panel>
      {pkg.classes.map((each) => (
        <Panel key={each.key} title={text.classTitle(each.key)}>
          {each.description != null && <p className="mb-3 text-ink-2">{each.description}</p>}
          <DataList
            columns={2}
            items={[
              [
                text.bindings,
                <ul key="b">
                  {each.function_bindings.map((binding) => (
                    <li key={binding.name}>
                      <span className="font-medium">{binding.name}</span> →{" "}
                      <code className="text-xs">{binding.function_key}</code> <Tag>{binding.access_modifier}</Tag>
                    </li>
                  ))}
                </ul>,
              ],
              [
                text.state,
                each.state_spec == null ? (
                  text.stateless
                ) : (
                  <code key="s" className="text-xs break-all">
                    {JSON.stringify(each.state_spec)}
                  </code>
                ),
              ],
            ]}
          />
        </Panel>
      ))}
      <Panel title={m.terms.functions} flush>
        {pkg.functions.length === 0 ? (
          <Empty title={m.runtimes.noFunctions} />
        ) : (
          <Table
            label={m.terms.functions}
            rows={pkg.functions}
            keyOf={({ key }) => key}
            columns={[
              { title: m.terms.function, cell: ({ key }) => <span className="font-medium">{key}</span> },
              { title: text.type, cell: ({ function_type: type }) => <Tag>{type}</Tag>, wide: true },
              {
                title: text.image,
                cell: ({ provision_config: config }) => (
                  <code className="text-xs break-all">{config?.container_image ?? "–"}</code>
                ),
              },
              {
                title: text.scale,
                cell: ({ provision_config: config }) => (
                  <span className="num">{`${config?.min_scale ?? "–"} … ${config?.max_scale ?? "–"}`}</span>
                ),
                wide: true,
              },
            ]}
          />
        )}
      </Panel>
    </div>
  );
}
