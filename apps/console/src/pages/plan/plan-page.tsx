import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { call } from "../../api/client.ts";
import { ApiError } from "../../api/errors.ts";
import { useCan } from "../../api/session.ts";
import { curl, oaas } from "../../lib/commands.ts";
import { draftOf, isActive, isComplete, planRequest, type Draft, type WhatIf } from "../../lib/draft.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { Empty, ErrorView, Loading } from "../../ui/states.tsx";
import { Notice } from "../../ui/status.tsx";
import { useToasts } from "../../ui/toast.tsx";
import { useUrlState } from "../../ui/use-url.ts";
import { useDeployment, type Versioned } from "../deployments/deployment-queries.ts";
import type { Deployment } from "../../api/contract.ts";
import { PencilRuler, RefreshCw, Rocket } from "lucide-react";
import { applyPlan, type Outdated } from "./apply-plan.ts";
import { DraftEditor } from "./draft-editor.tsx";
import { OutdatedNotice } from "./outdated-notice.tsx";
import { PlanView } from "./plan-view.tsx";
import { Refusal } from "./refusal.tsx";
import { WhatIfPanel } from "./what-if.tsx";

const text = m.plan;
/** Plans follow the typing. */
const TYPING_MS = 350;
/** Longer addresses are cut by some proxies. */
const MAX_URL_DRAFT = 1500;

export default function PlanPage() {
  const [read] = useUrlState();
  const key = read("deployment");
  const existing = useDeployment(key, key !== "");
  if (key === "") return <Planner opened={undefined} />;
  if (existing.data === undefined)
    return existing.isError ? (
      <ErrorView error={existing.error} retry={() => void existing.refetch()} />
    ) : (
      <Loading rows={8} />
    );
  return <Planner key={key} opened={existing.data} />;
}

function initialDraft(base: Versioned<Deployment> | undefined, read: (name: string) => string): Draft {
  const stored = read("draft");
  if (stored !== "") {
    try {
      return JSON.parse(stored) as Draft;
    } catch {
      // A link that was cut: start from the deployment.
    }
  }
  if (base !== undefined) return draftOf({ ...base.value });
  return draftOf({ key: read("package"), package_name: read("package"), class_key: read("class") });
}

function Planner({ opened }: { readonly opened: Versioned<Deployment> | undefined }) {
  const [read, write] = useUrlState();
  // What the draft started from: events must not replace it unseen.
  const [base, setBase] = useState(opened);
  const [draft, setDraft] = useState<Draft>(() => initialDraft(base, read));
  const [outdated, setOutdated] = useState<Outdated>();
  const whatIf: WhatIf = useMemo(
    () => ({
      clustersDown: read("down") === "" ? [] : read("down").split(","),
      availability: read("target") === "" ? undefined : Number(read("target")),
      load: read("load") === "" ? undefined : Number(read("load")),
    }),
    [read("down"), read("target"), read("load")],
  );
  const setWhatIf = (next: WhatIf): void =>
    write(
      {
        down: next.clustersDown.join(),
        target: next.availability === undefined ? "" : String(next.availability),
        load: next.load === undefined ? "" : String(next.load),
      },
      true,
    );
  const wanted = useMemo(() => planRequest(draft, whatIf, true), [draft, whatIf]);
  const request = useDebounced(wanted);
  useEffect(() => {
    const serialized = JSON.stringify(draft);
    if (serialized.length <= MAX_URL_DRAFT && isComplete(draft)) write({ draft: serialized }, true);
  }, [draft, write]);
  const plan = useQuery({
    enabled: isComplete(draft),
    queryKey: ["plan", request],
    queryFn: async ({ signal }) => (await call("createPlan", { body: request, signal })).value,
    retry: false,
    placeholderData: (previous) => previous,
    staleTime: 0,
    gcTime: 0,
  });
  const key = typeof draft["key"] === "string" ? draft["key"] : "";
  const shown = plan.isError ? undefined : plan.data;
  // Until the request has settled, the page shows the plan of an earlier one.
  const isOutdated = plan.isFetching || request !== wanted;
  const [applying, setApplying] = useState(false);
  const canDeploy = useCan("deployer");
  const [, navigate] = useLocation();
  const { done } = useToasts();
  return (
    <>
      <PageHeader
        title={base === undefined ? text.titleNew : text.titleOf(base.value.key)}
        crumbs={[
          { label: m.nav.deployments, href: "/deployments" },
          ...(base === undefined
            ? []
            : [{ label: base.value.key, href: `/deployments/${encodeURIComponent(base.value.key)}` }]),
        ]}
        commands={[oaas(`plan -f deployment.yaml`), curl(location.origin, "/api/v1/plans", "POST")]}
        actions={
          canDeploy && (
            <Button
              variant="primary"
              icon={Rocket}
              disabled={shown === undefined || isOutdated || isActive(whatIf) || shown.pause !== undefined}
              title={isActive(whatIf) ? text.assumed : undefined}
              onClick={() => setApplying(true)}
            >
              {text.apply}
            </Button>
          )
        }
      />
      {outdated && (
        <OutdatedNotice
          outdated={outdated}
          onTakeTheirs={() => {
            if (base !== undefined) setDraft(draftOf({ ...base.value }));
            setOutdated(undefined);
          }}
        />
      )}
      <div className="grid gap-4 lg:grid-cols-[20rem_minmax(0,1fr)] 2xl:grid-cols-[24rem_minmax(0,1fr)]">
        <div className="min-w-0 space-y-4">
          <DraftEditor draft={draft} onChange={setDraft} isNew={base === undefined} error={plan.error} />
          <WhatIfPanel
            whatIf={whatIf}
            onChange={setWhatIf}
            draft={draft}
            clusters={shown?.clusters.map(({ cluster }) => cluster)}
          />
        </div>
        <div className="min-w-0 space-y-4" aria-busy={isOutdated}>
          {isActive(whatIf) && <Notice tone="warn" title={text.assumed} />}
          {!isComplete(draft) ? (
            <Panel>
              <Empty icon={PencilRuler} title={text.incomplete} text={text.incompleteText} />
            </Panel>
          ) : plan.isError ? (
            <>
              <Refusal error={plan.error} />
              {!(plan.error instanceof ApiError && plan.error.status === 400) && (
                <Button icon={RefreshCw} onClick={() => void plan.refetch()}>
                  {m.common.retry}
                </Button>
              )}
            </>
          ) : shown === undefined ? (
            <Panel>
              <Loading rows={10} />
            </Panel>
          ) : (
            <PlanView plan={shown} />
          )}
        </div>
      </div>
      {applying && shown !== undefined && (
        <ConfirmDialog
          title={text.applyTitle(key)}
          action={text.apply}
          withReason
          onClose={() => {
            setApplying(false);
            void plan.refetch();
          }}
          onConfirm={async (reason) => {
            const found = await applyPlan({ draft, digest: shown.digest, reason, base });
            setOutdated(found);
            if (found !== undefined) {
              setBase(found.base);
              return;
            }
            done(text.applied(key));
            navigate(`/deployments/${encodeURIComponent(key)}`);
          }}
        >
          <p>{text.applyText}</p>
          <p>
            {text.summary(shown.replicas, shown.units.map(({ cluster }) => cluster).join(", "))} {m.plan.digest}{" "}
            <code className="text-xs break-all">{shown.digest}</code>
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function useDebounced<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
