import { useQuery } from "@tanstack/react-query";
import { CornerDownRight, Lightbulb } from "lucide-react";
import { useState } from "react";
import { fetchValue } from "../../api/client.ts";
import type { Explanation } from "../../api/contract.ts";
import { kubectl } from "../../lib/commands.ts";
import { flattenFinding, isHealthy } from "../../lib/finding.ts";
import { m } from "../../messages/en.ts";
import { CopyButton } from "../../ui/copy.tsx";
import { Panel } from "../../ui/page.tsx";
import { Loaded } from "../../ui/states.tsx";
import { Notice, Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const text = m.deployment;

/** The chain from the class down to the event of a pod. */
export function WhyTab({ deploymentKey: key }: { readonly deploymentKey: string }) {
  const explanation = useQuery({
    queryKey: ["deployment", key, "explain"],
    queryFn: ({ signal }) => fetchValue("explainDeployment", { path: { key }, signal }),
  });
  const [all, setAll] = useState(false);
  return (
    <Loaded query={explanation}>
      {(value) => (
        <div className="space-y-4">
          <Notice
            tone={{ healthy: "ok", transient: "progress", permanent: "bad" }[value.verdict] as "ok"}
            title={value.summary}
          >
            {value.suggested_action !== "" && (
              <p className="flex items-center gap-1.5">
                <Lightbulb size={14} className="shrink-0" aria-hidden /> {value.suggested_action}
              </p>
            )}
          </Notice>
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={all} onChange={(event) => setAll(event.target.checked)} />{" "}
            {text.showHealthy}
          </label>
          {value.clusters.map((cluster) => (
            <ClusterChain key={cluster.unit_id} cluster={cluster} all={all} />
          ))}
        </div>
      )}
    </Loaded>
  );
}

function ClusterChain({
  cluster: { cluster, finding, error },
  all,
}: {
  readonly cluster: Explanation["clusters"][number];
  readonly all: boolean;
}) {
  const chain = finding === null ? [] : flattenFinding(finding, !all);
  return (
    <Panel
      title={cluster}
      actions={
        finding && (
          <Status state={isHealthy(finding) ? "healthy" : finding.verdict} label={m.verdicts[finding.verdict]} />
        )
      }
    >
      {error !== null && <Notice tone="bad" title={error} />}
      <ul className="space-y-2.5">
        {chain.map(({ depth, finding: each }, index) => (
          <li key={index} className="flex gap-1.5" style={{ paddingLeft: `${Math.min(depth, 6) * 1.1}rem` }}>
            {depth > 0 && <CornerDownRight size={14} className="mt-1 shrink-0 text-ink-3" aria-hidden />}
            <div className="min-w-0">
              <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
                <Status state={each.verdict} label={each.reason === "" ? m.verdicts[each.verdict] : each.reason} />
                <span className="text-ink-3">{each.level}</span>
                <span className="font-medium break-all">{each.name}</span>
                {each.resource && (
                  <CopyButton
                    label={text.copyKubectl}
                    text={
                      kubectl(
                        `-n ${each.resource.namespace ?? "default"} describe ${each.resource.kind.toLowerCase()} ${each.resource.name}`,
                      ).text
                    }
                  />
                )}
                {each.since !== null && (
                  <span className="text-sm text-ink-3">
                    <Time at={each.since} />
                  </span>
                )}
                {each.count !== null && each.count > 1 && <span className="num text-sm text-ink-3">×{each.count}</span>}
              </p>
              {each.message !== "" && <p className="break-words text-ink-2">{each.message}</p>}
              {each.suggested_action !== "" && (
                <p className="flex gap-1.5 text-sm">
                  <Lightbulb size={14} className="mt-0.5 shrink-0 text-warn" aria-hidden /> {each.suggested_action}
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
