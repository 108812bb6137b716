import { Pause, Play, ScrollText } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { urlOf } from "../../api/client.ts";
import type { ClusterStatus, LogLine } from "../../api/contract.ts";
import { m } from "../../messages/en.ts";
import { Button } from "../../ui/button.tsx";
import { SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.deployment.logs;
/** Older lines leave the page. */
const KEPT_LINES = 1000;
const FLUSH_MS = 250;

/** The output of all functions, newest last; stops while paused. */
export function DeploymentLogs({
  deploymentKey: key,
  clusters,
}: {
  readonly deploymentKey: string;
  readonly clusters: readonly ClusterStatus[];
}) {
  const [read, write] = useUrlState();
  const [follow, setFollow] = useState(true);
  const [cluster, fn, contains] = [read("cluster"), read("function"), read("contains")];
  const { lines, lost } = useLogLines(
    follow
      ? urlOf("/api/v1/deployments/{key}/logs", {
          path: { key },
          query: { cluster, function: fn, contains, follow: true, tail_lines: 200 },
        })
      : undefined,
  );
  const box = useRef<HTMLDivElement>(null);
  const functions = [...new Set(clusters.flatMap((each) => each.functions.map(({ function_key: name }) => name)))];
  useEffect(() => {
    if (box.current !== null && follow) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follow]);
  return (
    <Panel flush>
      <div className="no-print flex flex-wrap items-center gap-2 border-b border-line px-4 py-2.5">
        <TextFilter label={text.contains} value={contains} onChange={(value) => write({ contains: value }, true)} />
        <SelectFilter
          label={m.terms.cluster}
          value={cluster}
          options={clusters.map((each) => each.cluster)}
          onChange={(value) => write({ cluster: value })}
        />
        <SelectFilter
          label={m.terms.function}
          value={fn}
          options={functions}
          onChange={(value) => write({ function: value })}
        />
        <Button icon={follow ? Pause : Play} className="ml-auto" onClick={() => setFollow(!follow)}>
          {follow ? text.pause : text.follow}
        </Button>
      </div>
      {lost && (
        <p role="alert" className="px-4 py-2 text-sm text-warn">
          {text.lost}
        </p>
      )}
      {lines.length === 0 ? (
        <Empty icon={ScrollText} title={text.none} text={text.noneText} />
      ) : (
        <div
          ref={box}
          tabIndex={0}
          role="log"
          aria-label={text.label}
          className="max-h-[65vh] overflow-auto px-4 py-2 font-mono text-xs leading-relaxed"
        >
          {lines.map((line, index) => (
            <div key={index} className={`flex flex-wrap gap-x-3 ${line.notice ? "text-warn" : ""}`}>
              <span className="shrink-0 text-ink-3">{line.at.slice(11, 23)}</span>
              <span className="shrink-0 text-ink-2">
                {line.cluster}/{line.function_key}
              </span>
              <span className="min-w-0 break-all whitespace-pre-wrap">{line.text}</span>
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}

function useLogLines(url: string | undefined): { readonly lines: readonly LogLine[]; readonly lost: boolean } {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    if (url === undefined) return undefined;
    setLines([]);
    let waiting: LogLine[] = [];
    const source = new EventSource(url);
    const add = (event: MessageEvent<string>): void => void waiting.push(JSON.parse(event.data) as LogLine);
    source.addEventListener("line", add);
    source.addEventListener("error", () => setLost(true));
    source.addEventListener("open", () => setLost(false));
    const flush = setInterval(() => {
      if (waiting.length === 0) return;
      const batch = waiting;
      waiting = [];
      setLines((all) => [...all, ...batch].slice(-KEPT_LINES));
    }, FLUSH_MS);
    return () => {
      source.close();
      clearInterval(flush);
    };
  }, [url]);
  return { lines, lost };
}
