import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { fetchValue } from "../../api/client.ts";
import type { ClassRuntime } from "../../api/contract.ts";
import { ApiError } from "../../api/errors.ts";
import { measured } from "../../lib/format.ts";
import type { SampleHistory } from "../../lib/samples.ts";
import { DEFAULT_RANGE, newestValue, RANGES, signalCharts, type SignalChart } from "../../lib/signals.ts";
import { m } from "../../messages/en.ts";
import { Chart } from "../../ui/chart.tsx";
import { SelectFilter } from "../../ui/filters.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, ErrorView, Loading } from "../../ui/states.tsx";
import { Notice } from "../../ui/status.tsx";
import { useUrlState } from "../../ui/use-url.ts";

const text = m.runtimes.signals;
const MIN_REFRESH_MS = 5000;
/** Values of a chart. */
const STEPS = 90;

/**
 * The signals of the last minutes or hours, read again at each step. Where the cluster has no history, the charts show the
 * measurements of the requirements from the moment that the page is open.
 */
export function RuntimeSignals({
  runtime,
  history,
}: {
  readonly runtime: ClassRuntime;
  readonly history: SampleHistory;
}) {
  const [read, write] = useUrlState();
  const range = Object.hasOwn(RANGES, read("range")) ? read("range") : DEFAULT_RANGE;
  const signals = useSignals(runtime, range);
  const charts = useMemo(() => signals.data && signalCharts(signals.data), [signals.data]);
  if (charts === undefined) {
    if (!signals.isError) return <Loading rows={6} />;
    if (!(signals.error instanceof ApiError) || signals.error.isOffline)
      return <ErrorView error={signals.error} retry={() => void signals.refetch()} />;
    return <LiveCharts runtime={runtime} history={history} reason={signals.error.message} />;
  }
  return (
    <section aria-label={text.title} className="space-y-3">
      <div className="no-print flex flex-wrap items-center gap-3">
        <SelectFilter
          label={text.range}
          any={text.ranges[DEFAULT_RANGE] ?? DEFAULT_RANGE}
          value={range === DEFAULT_RANGE ? "" : range}
          options={Object.keys(RANGES)
            .filter((each) => each !== DEFAULT_RANGE)
            .map((each) => [each, text.ranges[each] ?? each] as const)}
          onChange={(value) => write({ range: value })}
        />
        <p className="text-sm text-ink-2">{text.note}</p>
      </div>
      {signals.isError && <Notice tone="warn" title={text.outdated(m.errors.describe(signals.error).text ?? "")} />}
      {charts.length === 0 ? (
        <Panel>
          <Empty title={text.none} text={text.noneText} />
        </Panel>
      ) : (
        <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
          {charts.map((chart) => (
            <SignalPanel key={`${chart.component}/${chart.signal}`} chart={chart} />
          ))}
        </div>
      )}
    </section>
  );
}

function useSignals({ id, cluster_name: cluster }: ClassRuntime, range: string) {
  const rangeSeconds = RANGES[range] ?? 0;
  const stepSeconds = Math.ceil(rangeSeconds / STEPS);
  return useQuery({
    queryKey: ["class-runtime", id, cluster, "signals", range],
    queryFn: ({ signal }) =>
      fetchValue("getClassRuntimeSignals", {
        path: { id },
        query: { cluster: cluster ?? "", range_seconds: rangeSeconds, step_seconds: stepSeconds },
        signal,
      }),
    refetchInterval: ({ state }) =>
      state.status === "error" ? MIN_REFRESH_MS : Math.max(MIN_REFRESH_MS, stepSeconds * 1000),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

function SignalPanel({
  chart: { component, signal, unit, points, target, targetKind, marks },
}: {
  readonly chart: SignalChart;
}) {
  const title = `${component}: ${m.signals(signal)}`;
  const newest = newestValue(points);
  const format = (value: number): string => measured(value, unit);
  return (
    <Panel
      title={title}
      actions={<span className="num text-sm text-ink-2">{newest === undefined ? text.noValue : format(newest)}</span>}
    >
      <Chart label={title} points={points} target={target} marks={marks} format={format} />
      {target !== undefined && (
        <p className="num mt-1 text-sm text-ink-3">
          {text.targetKinds[targetKind ?? ""] ?? m.runtimes.target}: {format(target)}
        </p>
      )}
    </Panel>
  );
}

function LiveCharts({
  runtime: { nfr_compliance: compliance },
  history,
  reason,
}: {
  readonly runtime: ClassRuntime;
  readonly history: SampleHistory;
  readonly reason: string;
}) {
  const measurements = compliance?.measurements ?? [];
  const checkedAt = Date.parse(compliance?.last_checked ?? "");
  for (const { requirement, component, observed } of measurements)
    if (observed !== undefined && !Number.isNaN(checkedAt))
      history.add(`${component}/${requirement}`, { atMs: checkedAt, value: observed });
  return (
    <section aria-label={text.title} className="space-y-3">
      <Notice tone="warn" title={text.noHistory}>
        {reason}
      </Notice>
      <div className="grid grid-cols-1 gap-4 empty:hidden lg:grid-cols-2">
        {measurements.map(({ requirement, component, required, unit }) => {
          const title = `${component || m.runtimes.wholeClass}: ${m.requirements(requirement)}`;
          return (
            <Panel key={title} title={title}>
              <Chart
                label={title}
                points={history.of(`${component}/${requirement}`)}
                target={required}
                format={(value) => measured(value, unit)}
              />
            </Panel>
          );
        })}
      </div>
    </section>
  );
}
