import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetSignalsRequest, GetSignalsResponseSchema } from "@oaas/contracts/grpc";
import { failedPrecondition, Fault, invalidArgument, timestamp, type Clock } from "@oaas/foundation";
import type { StoredClass } from "../../classes/ports.ts";
import type { EventObject } from "../../lifecycle/observation/observed-objects.ts";
import type { MeasuredComponent } from "../../nfr/components/measured-component.ts";
import { READ_SIGNALS } from "../../nfr/history/component-history.ts";
import { enforcementMarks } from "../../nfr/history/enforcement-marks.ts";
import { historyRange, type HistoryRange } from "../../nfr/history/history-range.ts";
import type { SignalHistoryReader } from "../../nfr/history/signal-history.ts";
import type { ClassEvents } from "./class-events.ts";

export interface ReadSignalsDeps {
  readonly clock: Clock;
  /** Undefined without a metrics provider. */
  readonly signals: () => Pick<SignalHistoryReader, "componentsOf" | "read"> | undefined;
  readonly events: ClassEvents;
}

/** Numbers in one response, which bounds its size. */
const MAX_VALUES = 200_000;

/** The signals of a class over a range, with the changes by enforcement. */
export async function readSignals(
  object: StoredClass,
  { component, rangeSeconds, stepSeconds }: Pick<GetSignalsRequest, "component" | "rangeSeconds" | "stepSeconds">,
  { clock, signals, events }: ReadSignalsDeps,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof GetSignalsResponseSchema>> {
  const range = historyRange({ rangeSeconds, stepSeconds }, clock.now());
  const reader = signals();
  if (reader === undefined) {
    const message = "the class runtime manager of the cluster has no metrics provider: set OPRC_CRM_PROM_URL";
    throw failedPrecondition("signals", message);
  }
  const components = selectComponents(reader.componentsOf(object, object.metadata.uid), component);
  checkSize(components, range);
  // Without the permission to list Events, the status still has the newest changes.
  const [histories, found] = await Promise.all([
    reader.read(components, range, signal),
    events(object, signal).catch((): readonly EventObject[] => []),
  ]);
  return {
    start: timestamp(range.startMs),
    stepSeconds: range.stepMs / 1000,
    series: histories.map(({ component: key, signal: name, values, target }) => ({
      component: key,
      signal: name,
      values: [...values],
      ...(target === undefined ? {} : { target: target.value, targetKind: target.kind }),
    })),
    marks: enforcementMarks(object.status, found, range.startMs)
      .filter((mark) => component === undefined || component === "" || mark.component === component)
      .map(({ from, ...mark }) => ({ ...mark, ...(from === undefined ? {} : { from }) })),
  };
}

function selectComponents(all: readonly MeasuredComponent[], wanted: string | undefined): readonly MeasuredComponent[] {
  if (wanted === undefined || wanted === "") return all;
  const selected = all.filter(({ component }) => component === wanted);
  if (selected.length > 0) return selected;
  const known = all.map(({ component }) => component).join(", ");
  const message = `component "${wanted}" was not found: the class runs ${known || "no components"}`;
  throw new Fault({ kind: "not-found", resource: "component", name: wanted }, message);
}

function checkSize(components: readonly MeasuredComponent[], { startMs, endMs, stepMs }: HistoryRange): void {
  const steps = (endMs - startMs) / stepMs + 1;
  const values = components.length * READ_SIGNALS.length * steps;
  if (values <= MAX_VALUES) return;
  throw invalidArgument("the request", [
    {
      path: "$.step_seconds",
      message: `gives ${values} values of ${components.length} components`,
      fix: `use a longer step or name a component: a response has at most ${MAX_VALUES} values`,
    },
  ]);
}
