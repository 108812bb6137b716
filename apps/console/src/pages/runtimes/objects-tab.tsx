import { useQuery } from "@tanstack/react-query";
import { FileText, X } from "lucide-react";
import { useEffect, useRef } from "react";
import { fetchValue } from "../../api/client.ts";
import type { ClassRuntime } from "../../api/contract.ts";
import { kubectlObject } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy.tsx";
import { Editor, loadYaml } from "../../ui/editor.tsx";
import { Panel, Table } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Tag } from "../../ui/status.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.runtimes;

type Reference = NonNullable<ClassRuntime["resource_refs"]>[number];

/** The Kubernetes objects of a class runtime; the address names the one whose YAML is shown. */
export function RuntimeObjects({ runtime }: { readonly runtime: ClassRuntime }) {
  const [read, write] = useUrlState();
  const children = runtime.resource_refs ?? [];
  const shown = children.find((each) => keyOf(each) === read("object"));
  return (
    <div className="space-y-4">
      <Panel title={text.tabs.children} flush>
        {children.length === 0 ? (
          <Empty title={text.noChildren} />
        ) : (
          <Table
            label={text.tabs.children}
            rows={children}
            keyOf={keyOf}
            columns={[
              { title: text.kind, cell: ({ kind }) => <Tag>{kind}</Tag> },
              { title: text.name, cell: ({ name }) => <span className="font-medium break-all">{name}</span> },
              { title: m.clusters.namespace, wide: true, cell: ({ namespace }) => namespace ?? "–" },
              {
                title: text.yaml,
                cell: (row) => (
                  <Button
                    icon={FileText}
                    aria-label={text.showYamlOf(row.kind, row.name)}
                    aria-pressed={shown === row}
                    onClick={() => write({ object: shown === row ? "" : keyOf(row) })}
                  >
                    {text.showYaml}
                  </Button>
                ),
              },
              { title: text.command, wide: true, cell: (row) => <Command reference={row} /> },
            ]}
          />
        )}
      </Panel>
      {shown !== undefined && (
        <ObjectYaml key={keyOf(shown)} runtime={runtime} reference={shown} onClose={() => write({ object: "" })} />
      )}
    </div>
  );
}

function keyOf({ kind, name, api_version: version }: Reference): string {
  return [kind, name, ...(version === undefined ? [] : [version])].join(" ");
}

function Command({ reference }: { readonly reference: Reference }) {
  const { text: command } = kubectlObject(reference);
  return (
    <span className="flex items-center gap-1">
      <code className="hidden text-xs break-all lg:inline">{command}</code>
      <CopyButton label={m.common.copy} text={command} />
    </span>
  );
}

function ObjectYaml({
  runtime: { id, cluster_name: cluster },
  reference,
  onClose,
}: {
  readonly runtime: ClassRuntime;
  readonly reference: Reference;
  readonly onClose: () => void;
}) {
  const { kind, name, api_version: version } = reference;
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    panel.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const object = useQuery({
    queryKey: ["class-runtime", id, cluster, "object", kind, name, version],
    queryFn: async ({ signal }) => {
      const [read, { toYaml }] = await Promise.all([
        fetchValue("getClassRuntimeObject", {
          path: { id, kind, object: name },
          query: { cluster: cluster ?? "", api_version: version },
          signal,
        }),
        loadYaml(),
      ]);
      return toYaml(read.object);
    },
  });
  const title = text.yamlOf(kind, name);
  return (
    <div ref={panel}>
      <Panel
        title={title}
        actions={
          <span className="flex items-center gap-1">
            <CopyButton label={text.copyYaml} text={object.data ?? ""} />
            <IconButton label={m.common.close} icon={X} onClick={onClose} />
          </span>
        }
      >
        <Loaded query={object}>
          {(yaml) => (
            <>
              <p className="mb-2 text-sm text-ink-2">{text.yamlNote}</p>
              <Editor label={title} value={yaml} height="32rem" />
            </>
          )}
        </Loaded>
      </Panel>
    </div>
  );
}
