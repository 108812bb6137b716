import type { Stored } from "@oaas/kube-core";
import { isActive } from "../../objects/pods.ts";
import type { Container, Job, Pod } from "../../objects/typed.ts";
import { createPodFromTemplate } from "../pod-from-template.ts";

const INDEX = "batch.kubernetes.io/job-completion-index";
const VARIABLE = "JOB_COMPLETION_INDEX";

export function isIndexed({ spec }: Job): boolean {
  return spec.completionMode === "Indexed";
}

function getIndex({ metadata }: Pod): number {
  return Number(metadata.annotations?.[INDEX] ?? -1);
}

/** Succeeded indexes, including those whose pods are gone. */
export function listCompletedIndexes({ status }: Job, pods: readonly Pod[]): readonly number[] {
  const done = new Set(parseIndexes(status?.completedIndexes ?? ""));
  for (const pod of pods) if (pod.status?.phase === "Succeeded") done.add(getIndex(pod));
  return [...done].filter((index) => index >= 0).sort((a, b) => a - b);
}

/** `0,1,4-7`: runs of three and more are shortened. */
export function formatIndexes(indexes: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else runs.push([index, index]);
  }
  return runs
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join(",");
}

function parseIndexes(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(",").flatMap((part) => {
    const [from = 0, to = from] = part.split("-").map(Number);
    return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
  });
}

/** The pods of the lowest indexes that are neither finished nor active. */
export function createIndexedPods(job: Stored<Job>, pods: readonly Stored<Pod>[], count: number): readonly Pod[] {
  const busy = new Set([...listCompletedIndexes(job, pods), ...pods.filter(isActive).map(getIndex)]);
  const all = Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index);
  return all
    .filter((index) => !busy.has(index))
    .slice(0, count)
    .map((index) => createIndexedPod(job, index));
}

function createIndexedPod(job: Stored<Job>, index: number): Pod {
  const { template } = job.spec;
  const pod = createPodFromTemplate(job, template, {
    generateName: `${job.metadata.name}-${index}-`,
    annotations: { ...template.metadata?.annotations, [INDEX]: String(index) },
    labels: { ...template.metadata?.labels, [INDEX]: String(index) },
  });
  const { containers = [], initContainers } = pod.spec ?? {};
  const spec = {
    ...pod.spec,
    hostname: `${job.metadata.name}-${index}`,
    containers: containers.map(addIndex),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(addIndex) }),
  };
  return { ...pod, spec };
}

function addIndex(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === VARIABLE)) return container;
  const fieldPath = `metadata.labels['${INDEX}']`;
  return { ...container, env: [...env, { name: VARIABLE, valueFrom: { fieldRef: { fieldPath } } }] };
}
