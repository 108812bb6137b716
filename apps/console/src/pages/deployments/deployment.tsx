import { CirclePause, CirclePlay, Ellipsis, OctagonX, PencilRuler, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { call } from "../../api/client.ts";
import type { DeploymentStatus } from "../../api/contract.ts";
import { useCan } from "../../api/session.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { m } from "../../messages/en.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Menu } from "../../ui/menu.tsx";
import { PageHeader, Tabs } from "../../ui/page.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Notice, Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { useDeployment, useDeploymentStatus, useRefreshDeployment } from "./deployment-queries.ts";
import { DeploymentEvents } from "./events-tab.tsx";
import { DeploymentLogs } from "./logs-tab.tsx";
import { DeploymentObjects } from "./objects-tab.tsx";
import { DeploymentProgress } from "./progress-tab.tsx";
import { DeploymentRevisions } from "./revisions-tab.tsx";
import { WhyTab } from "./why-tab.tsx";

const text = m.deployment;
type Action = "pause" | "cancel" | "delete" | "replan" | undefined;

export default function DeploymentPage({ params }: { readonly params: Readonly<Record<string, string>> }) {
  const key = params["key"] ?? "";
  const status = useDeploymentStatus(key);
  const [read] = useUrlState();
  const tab = read("tab", "progress");
  const canDeploy = useCan("deployer");
  const path = `/deployments/${encodeURIComponent(key)}`;
  const tabs = ["progress", "why", "revisions", "events", "objects", ...(canDeploy ? ["logs"] : [])];
  return (
    <>
      <PageHeader
        title={key}
        crumbs={[{ label: m.nav.deployments, href: "/deployments" }]}
        status={status.data && <Status soft state={status.data.condition} label={m.states(status.data.condition)} />}
        meta={<Meta deploymentKey={key} />}
        actions={status.data && canDeploy && <Actions status={status.data} />}
        commands={[
          oaas(`get deployment ${key}`),
          oaas(`explain ${key}`),
          ...(status.data?.clusters ?? [])
            .slice(0, 3)
            .map(({ unit_id: unit, namespace }) =>
              kubectl(`-n ${namespace ?? "default"} get classruntime ${unit} -o yaml`),
            ),
          curl(location.origin, `/api/v1/deployments/${encodeURIComponent(key)}/status`),
        ]}
      />
      {status.data && <Banners status={status.data} canDeploy={canDeploy} />}
      <Tabs
        tabs={tabs.map((id) => ({ id, label: text.tabs[id as keyof typeof text.tabs] }))}
        active={tab}
        hrefOf={(id) => (id === "progress" ? path : `${path}?tab=${id}`)}
      />
      {tab === "progress" && <Loaded query={status}>{(value) => <DeploymentProgress status={value} />}</Loaded>}
      {tab === "why" && <WhyTab deploymentKey={key} />}
      {tab === "revisions" && <DeploymentRevisions deploymentKey={key} current={status.data?.revision} />}
      {tab === "events" && (
        <DeploymentEvents deploymentKey={key} unitIds={status.data?.clusters.map(({ unit_id: id }) => id) ?? []} />
      )}
      {tab === "objects" && <DeploymentObjects deploymentKey={key} />}
      {tab === "logs" && <DeploymentLogs deploymentKey={key} clusters={status.data?.clusters ?? []} />}
    </>
  );
}

function Meta({ deploymentKey }: { readonly deploymentKey: string }) {
  const { data } = useDeployment(deploymentKey);
  if (data === undefined) return null;
  const { package_name: name, class_key: classKey, created_at: created, updated_at: updated } = data.value;
  return (
    <p>
      {text.classOf}{" "}
      <Link href={`/packages/${encodeURIComponent(name)}`} className="link">{`${name}.${classKey}`}</Link> ·{" "}
      {m.terms.created} <Time at={created} /> · {m.terms.updated} <Time at={updated} />
    </p>
  );
}

function Banners({ status, canDeploy }: { readonly status: DeploymentStatus; readonly canDeploy: boolean }) {
  const [action, setAction] = useState<Action>();
  const refresh = useRefreshDeployment(status.key);
  const { pause, replan } = status;
  const digest = replan?.plan_digest;
  return (
    <div className="mb-4 space-y-2 empty:hidden">
      {pause && (
        <Notice tone="warn" title={text.paused(pause.by)}>
          {text.pausedUntil} <Time at={pause.until} />
          {pause.reason !== undefined && `: ${pause.reason}`}
        </Notice>
      )}
      {replan && replan.state !== "applied" && (
        <Notice tone="progress" title={text.replan[replan.state] ?? replan.state}>
          <p>{replan.message}</p>
          {replan.state_effect !== undefined && <p className="text-bad">{replan.state_effect}</p>}
          {digest !== undefined && replan.state === "proposed" && canDeploy && (
            <Button className="mt-2" onClick={() => setAction("replan")}>
              {text.applyReplan}
            </Button>
          )}
        </Notice>
      )}
      {action === "replan" && digest !== undefined && (
        <ConfirmDialog
          title={text.applyReplan}
          action={text.applyReplan}
          withReason
          onClose={() => setAction(undefined)}
          onConfirm={async (reason) => {
            await call("replanDeployment", {
              path: { key: status.key },
              body: { plan_digest: digest, ...(reason && { reason }) },
            });
            await refresh();
          }}
        >
          <ul className="list-disc pl-5">
            {replan?.changes.map((change) => (
              <li key={change.path}>{change.text}</li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </div>
  );
}

const HOUR = 3600;
const PAUSES: readonly (readonly [number, string])[] = [
  [HOUR, text.hours(1)],
  [8 * HOUR, text.hours(8)],
  [24 * HOUR, text.days(1)],
  [7 * 24 * HOUR, text.days(7)],
  [30 * 24 * HOUR, text.days(30)],
];

function Actions({ status }: { readonly status: DeploymentStatus }) {
  const { key, pause, operation } = status;
  const [action, setAction] = useState<Action>();
  const [seconds, setSeconds] = useState(HOUR);
  const [, navigate] = useLocation();
  const { done, failed } = useToasts();
  const refresh = useRefreshDeployment(key);
  const close = (): void => setAction(undefined);
  const resume = async (): Promise<void> => {
    try {
      await call("resumeDeployment", { path: { key } });
      await refresh();
      done(text.resumed(key));
    } catch (error) {
      failed(error);
    }
  };
  const running = operation?.state === "running";
  return (
    <>
      {running && (
        <Button icon={OctagonX} onClick={() => setAction("cancel")}>
          {text.cancel}
        </Button>
      )}
      {pause ? (
        <Button icon={CirclePlay} onClick={() => void resume()}>
          {text.resume}
        </Button>
      ) : (
        <Button icon={CirclePause} onClick={() => setAction("pause")}>
          {text.pause}
        </Button>
      )}
      <LinkButton href={`/plan?deployment=${encodeURIComponent(key)}`} variant="primary" icon={PencilRuler}>
        {text.change}
      </LinkButton>
      <Menu
        trigger={<Button icon={Ellipsis} aria-label={m.common.more} />}
        items={[{ label: text.delete, icon: Trash2, danger: true, onSelect: () => setAction("delete") }]}
      />
      {action === "pause" && (
        <ConfirmDialog
          title={text.pauseTitle(key)}
          action={text.pause}
          withReason
          onClose={close}
          onConfirm={async (reason) => {
            await call("pauseDeployment", {
              path: { key },
              body: { duration_secs: seconds, ...(reason && { reason }) },
            });
            await refresh();
          }}
        >
          <p>{text.pauseText}</p>
          <label className="block space-y-1">
            <span className="text-sm font-medium text-ink">{text.pauseFor}</span>
            <select className="field" value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
              {PAUSES.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </ConfirmDialog>
      )}
      {action === "cancel" && (
        <ConfirmDialog
          title={text.cancelTitle(key)}
          action={text.cancel}
          onClose={close}
          onConfirm={async () => {
            await call("cancelDeployment", { path: { key } });
            await refresh();
          }}
        >
          <p>{text.cancelText}</p>
        </ConfirmDialog>
      )}
      {action === "delete" && (
        <ConfirmDialog
          title={text.deleteTitle(key)}
          action={text.delete}
          typed={key}
          onClose={close}
          onConfirm={async () => {
            await call("deleteDeployment", { path: { key } });
            done(text.deleted(key));
            navigate("/deployments");
          }}
        >
          <p>{text.deleteText}</p>
          <ul className="list-disc pl-5">
            {status.clusters.map(({ cluster, unit_id: unit }) => (
              <li key={unit}>{text.deleteUnit(unit, cluster)}</li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </>
  );
}
