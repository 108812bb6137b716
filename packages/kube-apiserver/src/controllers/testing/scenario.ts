import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { objectAt, textAt } from "../../kinds/json-access.ts";
import * as resources from "../objects/resources.ts";
import type { Resource } from "../objects/resources.ts";

/** Where a scenario runs: the real cluster or the simulated one. */
export interface Stage {
  apply(kind: Resource, object: object): Promise<void>;
  /** A JSON merge patch. */
  patch(kind: Resource, name: string, patch: object): Promise<void>;
  remove(kind: Resource, name: string): Promise<void>;
  /** Waits until nothing happens any more. */
  settle(): Promise<void>;
  list(kind: Resource): Promise<readonly JsonObject[]>;
}

/** One scenario: its steps. The state is recorded after each step. */
export interface Scenario {
  readonly name: string;
  readonly kinds: readonly Resource[];
  readonly steps: readonly (readonly [title: string, act: (stage: Stage) => Promise<void>])[];
}

/** Runs the scenario and returns the recorded text, without names, times and ids that differ each time. */
export async function recordScenario(scenario: Scenario, stage: Stage): Promise<string> {
  const parts: string[] = [];
  for (const [title, act] of scenario.steps) {
    await act(stage);
    await stage.settle();
    const objects = [];
    for (const kind of scenario.kinds)
      objects.push(...groupLines((await stage.list(kind)).map((one) => objectText(kind, one))));
    parts.push(`# ${title}`, ...objects);
  }
  const events = (await stage.list(resources.EVENTS)).filter(isOfController).map(eventText).sort();
  return `${[...parts, "# events", ...groupLines(events)].join("\n")}\n`;
}

/** Kubelet events differ between KWOK and the simulation. */
function isOfController(event: JsonObject): boolean {
  const component = textAt(event, "reportingComponent");
  const source = textAt(objectAt(event, "source"), "component");
  const { kind } = event["involvedObject"] as JsonObject;
  return (
    ![component, source].some((name) => /kwok|kubelet/.test(name)) &&
    kind !== "Node" &&
    kind !== "PersistentVolumeClaim"
  );
}

function eventText(event: JsonObject): string {
  const about = event["involvedObject"] as JsonObject;
  const form = event["eventTime"] ? `action=${textAt(event, "action")}` : "counted";
  const who = textAt(event, "reportingComponent");
  return neutralizeIds(
    `${textAt(about, "kind")} ${textAt(about, "name")} ${textAt(event, "type")} ${textAt(event, "reason")}: ${textAt(event, "message")} [${who} ${form}]`,
  );
}

/** Equal lines once, with their count. */
function groupLines(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of [...lines].sort()) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) => (count === 1 ? line : `${count} × ${line}`));
}

/** The number of slice updates depends on the timing of pods; a pod's generation is not set by the controllers. */
const UNCOUNTED = new Set(["Pod", "EndpointSlice"]);

function objectText({ kind }: Resource, object: JsonObject): string {
  const metadata = object["metadata"] as JsonObject;
  const parts = [
    `${kind} ${textAt(metadata, "name")}`,
    ...formatFacts("annotations", metadata["annotations"], /^(deployment\.kubernetes\.io|deprecated\.daemonset)/),
    ...formatFacts("labels", metadata["labels"], /./),
    ...(metadata["generation"] === undefined || UNCOUNTED.has(kind)
      ? []
      : [`generation=${JSON.stringify(metadata["generation"])}`]),
    ...(isJsonObject(object["spec"]) && object["spec"]["replicas"] !== undefined
      ? [`spec.replicas=${JSON.stringify(object["spec"]["replicas"])}`]
      : []),
    ...(isJsonArray(object["endpoints"])
      ? [`endpoints=${JSON.stringify(stripServerFields(object["endpoints"]))}`]
      : []),
    ...(isJsonArray(object["subsets"]) ? [`subsets=${JSON.stringify(stripServerFields(object["subsets"]))}`] : []),
    ...(isJsonArray(object["ports"]) ? [`ports=${JSON.stringify(object["ports"])}`] : []),
    ...(typeof object["revision"] === "number" ? [`revision=${object["revision"]}`] : []),
    ...(object["status"] === undefined ? [] : [`status=${JSON.stringify(stripServerFields(object["status"]))}`]),
  ];
  return neutralizeIds(parts.join(" "));
}

function formatFacts(name: string, values: JsonValue | undefined, pattern: RegExp): string[] {
  const entries = Object.entries(isJsonObject(values) ? values : {}).filter(([key]) => pattern.test(key));
  return entries.length === 0
    ? []
    : [`${name}=${JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`];
}

/** Removes times, addresses and ids; sorts members by name and conditions by type. */
const VARYING = /Time$|^startedAt$|^finishedAt$|^uid$|IPs?$|^ip$|^addresses$|^nodeName$|^containerStatuses$|^nodeInfo$/;

function stripServerFields(value: JsonValue): JsonValue {
  if (isJsonArray(value)) {
    // KWOK's pods lack one condition of kubelets.
    const items = value
      .filter((item) => !isJsonObject(item) || item["type"] !== "PodReadyToStartContainers")
      .map(stripServerFields);
    return items.every((item) => isJsonObject(item) && "type" in item)
      ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([name]) => !VARYING.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, stripServerFields(member)]));
}

/** Hashes and random suffixes of names, nodes and uids. */
function neutralizeIds(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
    .replaceAll(
      /\b(web|db|agent|spread)-[bcdf-hj-np-tv-z2-9]{6,10}\b(-[bcdf-hj-np-tv-z2-9]{5}\b|-")?/g,
      (_, name: string, pod?: string) =>
        pod === undefined ? `${name}-HASH` : pod === '-"' ? `${name}-HASH-SUFFIX"` : `${name}-HASH-SUFFIX`,
    )
    .replaceAll(/\b(web|db|agent|job|many)-[bcdf-hj-np-tv-z2-9]{5}\b/g, "$1-SUFFIX")
    .replaceAll(
      /"(pod-template-hash|controller-revision-hash|controller\.kubernetes\.io\/hash)":"[bcdf-hj-np-tv-z2-9]{6,10}"/g,
      '"$1":"HASH"',
    )
    .replaceAll(/(assigned \S+ to) node-\d/g, "$1 NODE")
    .replaceAll(/\bscenarios\b/g, "NAMESPACE");
}
