import type { JsonObject } from "@oaas/kube-core";
import { comparable, type RecordedAnswer } from "./kind-answers.ts";
import type { SendRequest } from "./real-server.ts";

/** Objects in a namespace with limits, and the responses of the real server. */
export interface RecordedLimit {
  readonly why: string;
  readonly limits: readonly JsonObject[];
  readonly of: string;
  readonly sent: JsonObject;
  readonly answer: RecordedAnswer;
}

const pod = (...resources: JsonObject[]): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: resources.map((each, index) => ({ name: `c${index}`, image: "i", resources: each })) },
});
const claim = (storage: string): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "a" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
});
const CONTAINER = {
  type: "Container",
  min: { cpu: "100m" },
  max: { cpu: "1" },
  default: { cpu: "500m" },
  maxLimitRequestRatio: { cpu: "4" },
};
const POD = { type: "Pod", max: { memory: "1Gi" } };
const CLAIM = { type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } };

const CASES: readonly Omit<RecordedLimit, "answer">[] = [
  {
    why: "defaults are filled in",
    limits: [CONTAINER],
    of: "v1/pods",
    sent: pod({}, { limits: { cpu: "1" }, requests: { cpu: "250m" } }),
  },
  {
    why: "above the maximum",
    limits: [CONTAINER],
    of: "v1/pods",
    sent: pod({ limits: { cpu: "2" }, requests: { cpu: "1" } }),
  },
  {
    why: "below the minimum",
    limits: [CONTAINER],
    of: "v1/pods",
    sent: pod({ limits: { cpu: "50m" }, requests: { cpu: "50m" } }),
  },
  {
    why: "too far apart",
    limits: [CONTAINER],
    of: "v1/pods",
    sent: pod({ limits: { cpu: "1" }, requests: { cpu: "100m" } }),
  },
  { why: "pod without limits", limits: [POD], of: "v1/pods", sent: pod({}) },
  {
    why: "pod above the maximum",
    limits: [POD],
    of: "v1/pods",
    sent: pod({ limits: { memory: "700Mi" } }, { limits: { memory: "700Mi" } }),
  },
  { why: "claim too small", limits: [CLAIM], of: "v1/persistentvolumeclaims", sent: claim("1Mi") },
  { why: "claim too big", limits: [CLAIM], of: "v1/persistentvolumeclaims", sent: claim("3Gi") },
  { why: "valid claim", limits: [CLAIM], of: "v1/persistentvolumeclaims", sent: claim("2Gi") },
];

/** Sends every case to the real server, each in a separate namespace. */
export async function recordLimits(send: SendRequest): Promise<RecordedLimit[]> {
  const recorded: RecordedLimit[] = [];
  for (const [index, each] of CASES.entries()) {
    const namespace = `limits-${index}`;
    const path = `/api/v1/namespaces/${namespace}`;
    await send("POST", "/api/v1/namespaces", {
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    });
    const range = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "r" }, spec: { limits: [...each.limits] } };
    const { body: made } = await send("POST", `${path}/limitranges`, { body: range });
    const { limits } = made["spec"] as unknown as { limits: readonly JsonObject[] };
    const answer = await send("POST", `${path}/${each.of.slice(3)}?dryRun=All`, { body: each.sent });
    recorded.push({ ...each, limits, answer: comparable(answer) });
  }
  return recorded;
}

/** The table as the text of its file: one line per case. */
export function limitsText(cases: readonly RecordedLimit[]): string {
  const note = "Made from the real kube-apiserver by `npm run kindgen`; not edited by hand.";
  return `{"note":${JSON.stringify(note)},\n"cases":[\n${cases.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}
