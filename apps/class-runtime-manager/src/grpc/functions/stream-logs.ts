import type { MessageInitShape } from "@bufbuild/protobuf";
import type { StreamLogsRequest, StreamLogsResponseSchema } from "@oaas/contracts/grpc";
import { Fault, MergedStreams, timestamp, type Ambient } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import type { Pod } from "../../lifecycle/observation/observed-objects.ts";
import { FUNCTION_CONTAINER, FUNCTION_LABEL, ownerLabelValue } from "../../templates/index.ts";
import type { StoredClass } from "../../classes/ports.ts";
import { assertFunction, functionOfLabel } from "./class-functions.ts";
import { readTimedLines } from "./log-lines.ts";

/** Dependencies of log streams. */
export interface LogDeps {
  readonly ambient: Ambient;
  readonly client: Pick<KubeClient, "podLog">;
  /** The pods of a class. */
  readonly podsOf: (namespace: string, ownerLabel: string) => readonly Pod[];
}

type Batch = MessageInitShape<typeof StreamLogsResponseSchema>;

/** Pods read by one call; others are named in a notice. */
const MAX_PODS = 100;
/** How often a following call looks for new pods. */
const NEW_PODS_MS = 1000;

/** The output of the functions of a class, of all their pods; with follow also of later pods, until the signal aborts. */
export async function* streamLogs(
  object: StoredClass,
  request: StreamLogsRequest,
  deps: LogDeps,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const { functionKey } = request;
  if (functionKey !== undefined && functionKey !== "") assertFunction(object, functionKey);
  const ending = new AbortController();
  const merged = new MergedStreams<Batch>();
  const both = AbortSignal.any([signal, ending.signal]);
  const seen = new Set<string>();
  try {
    const addPods = (isFirst: boolean): void => {
      for (const pod of selectPods(object, request, deps)) {
        const { uid = "" } = pod.metadata;
        if (seen.has(uid) || merged.running >= MAX_PODS) continue;
        seen.add(uid);
        merged.add(readPod(object, pod, isFirst ? request : { ...request, tailLines: undefined }, deps, both));
      }
    };
    addPods(true);
    const omitted = selectPods(object, request, deps).length - seen.size;
    if (omitted > 0)
      yield notice("", `${omitted} more pods are left out: one call reads ${MAX_PODS}; name a function`, deps);
    if (!request.follow) {
      for (let next = await merged.next(both); next; next = await merged.next(both)) yield next;
      return;
    }
    yield* followPods(merged, () => addPods(false), deps, both);
  } finally {
    ending.abort();
    merged.close();
  }
}

/** Yields output, and adds pods that started in the meantime. */
async function* followPods(
  merged: MergedStreams<Batch>,
  addPods: () => void,
  { ambient }: LogDeps,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  while (!signal.aborted) {
    const pause = new AbortController();
    const timer = ambient.timers.after(NEW_PODS_MS, () => pause.abort());
    const either = AbortSignal.any([signal, pause.signal]);
    try {
      for (let next = await merged.next(either); next; next = await merged.next(either)) yield next;
      // Without any pod there is nothing to wait for but the time.
      if (merged.running === 0) await aborted(either);
    } finally {
      timer.cancel();
    }
    addPods();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function selectPods(
  object: StoredClass,
  { functionKey, follow }: StreamLogsRequest,
  { podsOf }: LogDeps,
): readonly Pod[] {
  const { namespace, name } = object.metadata;
  return podsOf(namespace, ownerLabelValue(name))
    .filter(({ metadata }) => {
      const label = metadata.labels?.[FUNCTION_LABEL];
      if (label === undefined) return false;
      return functionKey === undefined || functionKey === "" || functionOfLabel(object, label) === functionKey;
    })
    .filter(({ status }) => !follow || status?.phase !== "Pending")
    .toSorted((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

async function* readPod(
  object: StoredClass,
  pod: Pod,
  { follow, previous, tailLines, sinceSeconds, contains = "" }: StreamLogsRequest,
  deps: LogDeps,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const { namespace = "", name = "", labels } = pod.metadata;
  const functionKey = functionOfLabel(object, labels?.[FUNCTION_LABEL] ?? "");
  try {
    const chunks = await deps.client.podLog(
      {
        namespace,
        pod: name,
        container: FUNCTION_CONTAINER,
        timestamps: true,
        ...(follow ? { follow } : {}),
        ...(previous ? { previous } : {}),
        ...(tailLines === undefined ? {} : { tailLines }),
        ...(sinceSeconds === undefined ? {} : { sinceSeconds: Math.max(1, sinceSeconds) }),
      },
      signal,
    );
    for await (const lines of readTimedLines(chunks)) {
      const wanted = contains === "" ? lines : lines.filter(({ text }) => text.includes(contains));
      if (wanted.length > 0) yield { lines: wanted.map(({ at, text }) => ({ pod: name, functionKey, at, text })) };
    }
  } catch (thrown) {
    if (!signal.aborted) yield notice(name, `cannot read the output: ${Fault.from(thrown).message}`, deps, functionKey);
  }
}

function notice(pod: string, text: string, { ambient }: LogDeps, functionKey = ""): Batch {
  return { lines: [{ pod, functionKey, at: timestamp(ambient.clock.now()), text, notice: true }] };
}
