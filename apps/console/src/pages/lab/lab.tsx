import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, RotateCcw, Zap } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { call, fetchValue } from "../../api/client.ts";
import type { Lab } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { useEvents } from "../../api/feed-context.tsx";
import { oaas } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { EventTable } from "../../ui/event-table.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Notice } from "../../ui/status.tsx";
import { useToasts } from "../../ui/toast.tsx";

const text = m.lab;

/** Breaks the local stack on purpose, and shows what the platform does about it. */
export default function LabPage() {
  const lab = useQuery({
    queryKey: ["lab"],
    queryFn: ({ signal }) => fetchValue("getLab", { signal }),
  });
  const events = useEvents();
  return (
    <>
      <PageHeader title={m.nav.lab} meta={<p>{text.intro}</p>} commands={[oaas("lab"), oaas("lab restore")]} />
      <Loaded query={lab}>{(value) => <LabContent lab={value} />}</Loaded>
      <Panel title={text.watch} flush className="mt-4">
        <EventTable events={events.slice(0, 15)} />
      </Panel>
    </>
  );
}

function LabContent({ lab: { clusters, faults, injected } }: { readonly lab: Lab }) {
  const queries = useQueryClient();
  const isAdmin = useCan("admin");
  const { done, failed } = useToasts();
  const [busy, setBusy] = useState<string>();
  const run = async (id: "injectFault" | "removeFaults", body: object, message: string): Promise<void> => {
    setBusy(JSON.stringify(body));
    try {
      const { value } = await call(id, { body });
      queries.setQueryData(["lab"], value);
      done(message);
    } catch (error) {
      failed(error);
    } finally {
      setBusy(undefined);
    }
  };
  const isInjected = (fault: string, cluster: string): boolean =>
    injected.some((each) => each.fault === fault && each.cluster === cluster);
  if (clusters.length === 0) return <Empty icon={FlaskConical} title={text.none} />;
  return (
    <div className="space-y-4">
      {injected.length > 0 && (
        <Notice tone="warn" title={text.injected(injected.length)}>
          <p>{injected.map(({ fault, cluster }) => `${fault} (${cluster})`).join(", ")}</p>
          <div className="mt-2 flex flex-wrap gap-2">
            <Button
              icon={RotateCcw}
              disabled={!isAdmin}
              busy={busy === "{}"}
              onClick={() => void run("removeFaults", {}, text.restored)}
            >
              {text.restoreAll}
            </Button>
            <Link href="/deployments" className="link self-center">
              {text.see}
            </Link>
          </div>
        </Notice>
      )}
      <div className="grid gap-4 md:grid-cols-2">
        {faults.map(({ fault, title, description }) => (
          <Panel key={fault} title={title}>
            <p className="mb-3 text-ink-2">{description}</p>
            <div className="flex flex-wrap gap-2">
              {clusters.map((cluster) => {
                const body = { fault, cluster };
                const active = isInjected(fault, cluster);
                return (
                  <Button
                    key={cluster}
                    icon={active ? RotateCcw : Zap}
                    variant={active ? "primary" : "plain"}
                    disabled={!isAdmin}
                    busy={busy === JSON.stringify(body)}
                    aria-pressed={active}
                    aria-label={active ? text.restore(title, cluster) : text.inject(title, cluster)}
                    onClick={() =>
                      void (active
                        ? run("removeFaults", body, text.restored)
                        : run("injectFault", body, text.done(title, cluster)))
                    }
                  >
                    {active ? text.restoreShort(cluster) : cluster}
                  </Button>
                );
              })}
            </div>
          </Panel>
        ))}
      </div>
    </div>
  );
}
