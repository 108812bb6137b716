import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CrmInfoService,
  DeploymentService,
  FindingLevel,
  HealthCheckResponse_ServingStatus,
  HealthService,
  ObjectChange,
  StatusCode,
  TopologyService,
  Verdict,
  type ClassRuntimeSummary,
  type CrmEnvHealthSchema,
  type ListClassRuntimesRequest,
} from "@oaas/contracts/grpc";
import { invalidArgument, notFound, ROOT_PATH } from "@oaas/foundation";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import { scriptedInspection } from "./scripted-inspection.ts";
import { scriptedState } from "./scripted-state.ts";
import type { HeldUnit, ScriptedUnits } from "./scripted-units.ts";

/** The methods that can be scripted, by their contract names. */
export const SCRIPTED_METHODS = [
  "Deploy",
  "GetDeploymentStatus",
  "DeleteDeployment",
  "ListClassRuntimes",
  "GetClassRuntime",
  "WatchClassRuntimes",
  "ExplainClassRuntime",
  "GetEnforcement",
  "GetUsage",
  "RenderUnit",
  "StreamLogs",
  "InvokeFunction",
  "ListStateObjects",
  "GetStateObject",
  "SetStateObject",
  "DeleteStateObject",
  "GetSignals",
  "GetObject",
  "ListPods",
  "GetConditions",
  "GetEnvHealth",
  "GrantRestart",
  "GetTopology",
  "Check",
] as const;
export type ScriptedMethod = (typeof SCRIPTED_METHODS)[number];

/** The health and facts that a scripted cluster reports. */
export interface ClusterFacts {
  readonly name: string;
  readonly status: string;
  readonly nodeCount: number;
  readonly readyNodes: number;
  readonly availability: number | undefined;
  /** Further fields of the health report, such as a measurement. */
  readonly report?: MessageInitShape<typeof CrmEnvHealthSchema>;
}

export interface ScriptedServicesDeps {
  readonly rust: boolean;
  readonly units: ScriptedUnits;
  readonly facts: () => ClusterFacts;
  /** Applies the scripted behaviour to a call. */
  readonly act: <T>(method: ScriptedMethod, request: unknown, call: Call, work: () => T) => Promise<T>;
}

/** The services of a class runtime manager over scripted units, like ours or like the Rust one. */
export function scriptedServices(deps: ScriptedServicesDeps): BoundService[] {
  const additions = deps.rust ? [] : [scriptedInspection(deps), scriptedState(deps)];
  return [deploymentService(deps), ...infoServices(deps), ...additions];
}

function deploymentService({ rust, units, act }: ScriptedServicesDeps): BoundService {
  const held = (id: string): HeldUnit => {
    const found = units.get(id);
    if (found === undefined) throw notFound("class runtime", id);
    return found;
  };
  return bindService(DeploymentService, {
    deploy: (request, call) =>
      act("Deploy", request, call, () => {
        const unit = request.deploymentUnit;
        if (unit === undefined || unit.id === "") {
          throw invalidArgument("the request", [{ path: ROOT_PATH, message: "has no unit with an id" }]);
        }
        const outcome = units.put(unit);
        const reply = { status: StatusCode.OK, deploymentId: unit.id, message: "accepted" };
        return rust ? reply : { ...reply, accepted: true, outcome, classRuntime: units.summary(held(unit.id)) };
      }),
    getDeploymentStatus: (request, call) =>
      act("GetDeploymentStatus", request, call, () => {
        const found = held(request.deploymentId);
        const message = found.state.condition === "running" ? "Available" : (found.state.message ?? "Progressing");
        return rust
          ? { status: StatusCode.OK, message, deployment: { id: found.unit.id, classKey: found.unit.id } }
          : { status: StatusCode.OK, message, deployment: found.unit, classRuntime: units.summary(found) };
      }),
    deleteDeployment: (request, call) =>
      act("DeleteDeployment", request, call, () => {
        if (!units.remove(request.deploymentId, request.revision))
          throw notFound("class runtime", request.deploymentId);
        return { status: StatusCode.OK, message: "deleted" };
      }),
    listClassRuntimes: (request, call) =>
      act("ListClassRuntimes", request, call, () => (rust ? listAsRust(request, units) : list(request, units))),
    getClassRuntime: (request, call) =>
      act("GetClassRuntime", request, call, () => ({ deployment: units.summary(held(request.deploymentId)) })),
    ...(rust
      ? {}
      : {
          watchClassRuntimes: async function* (request, call) {
            await act("WatchClassRuntimes", request, call, () => undefined);
            yield* units.watch(request.resumeToken, call.signal);
          },
          getEnforcement: (request, call) =>
            act("GetEnforcement", request, call, () => enforcement(held(request.deploymentId))),
          explainClassRuntime: (request, call) =>
            act("ExplainClassRuntime", request, call, () => explain(held(request.deploymentId))),
          renderUnit: (request, call) =>
            act("RenderUnit", request, call, () => {
              const name = request.deploymentUnit?.id ?? "";
              return {
                template: "dev",
                objects: [{ apiVersion: "v1", kind: "Service", name, change: ObjectChange.CREATE }],
              };
            }),
          // Ends, also when it should follow: the runs of these units have ended.
          streamLogs: async function* (request, call) {
            yield await act("StreamLogs", request, call, () => ({ lines: linesOf(held(request.deploymentId)) }));
          },
          // Returns what it receives.
          invokeFunction: (request, call) =>
            act("InvokeFunction", request, call, () => {
              held(request.deploymentId);
              return { status: 200, headers: { "content-type": "application/octet-stream" }, body: request.body };
            }),
        }),
  });
}

function infoServices({ rust, units, facts, act }: ScriptedServicesDeps): BoundService[] {
  return [
    bindService(CrmInfoService, {
      ...(rust
        ? {}
        : {
            getUsage: (request, call) =>
              act("GetUsage", request, call, () => ({ components: units.all().map(({ unit }) => usageOf(unit.id)) })),
          }),
      getEnvHealth: (request, call) =>
        act("GetEnvHealth", request, call, () => {
          const { name, status, nodeCount, readyNodes, availability, report } = facts();
          const envName = request.env === "" ? name : request.env;
          const known = { envName, status, nodeCount, readyNodes, crmVersion: "0.1.0" };
          return {
            ...known,
            ...(availability === undefined ? {} : { availability }),
            ...(rust
              ? {}
              : {
                  apiFeatures: ["watch", "explain", "page-token", "revision", "upsert", "filters"],
                  classRuntimeCount: units.size,
                }),
            ...report,
          };
        }),
    }),
    bindService(HealthService, {
      check: (request, call) =>
        act("Check", request, call, () => ({ status: HealthCheckResponse_ServingStatus.SERVING })),
    }),
    bindService(TopologyService, {
      getTopology: (request, call) =>
        act("GetTopology", request, call, () => ({
          nodes: [
            { id: `environment::${facts().name}`, nodeType: "environment", status: "healthy" },
            ...units.all().map(({ unit }) => ({
              id: `class::${unit.id}`,
              nodeType: "class",
              status: "healthy",
              deployedClasses: [unit.id],
            })),
          ],
          edges: units.all().map(({ unit }) => ({ fromId: `class::${unit.id}`, toId: `environment::${facts().name}` })),
          timestamp: { seconds: BigInt(Math.floor(Date.now() / 1000)), nanos: 0 },
        })),
    }),
  ];
}

function list(request: ListClassRuntimesRequest, units: ScriptedUnits) {
  const matches = units
    .summaries()
    .filter(
      (one) =>
        wanted(request.packageName, one.packageName) &&
        (wanted(request.classKey, one.classKey) || one.classKey.endsWith(`.${request.classKey}`)) &&
        wanted(request.deploymentKey, one.deploymentKey) &&
        wanted(request.managedBy, one.managedBy),
    );
  const token = request.pageToken ?? "";
  const start = token === "" ? (request.offset ?? 0) : matches.findIndex((one) => one.id > token);
  const items = start < 0 ? [] : page(matches, start, request.limit);
  const last = items.at(-1);
  const isWhole = last === undefined || start + items.length >= matches.length;
  return { items, totalCount: matches.length, nextPageToken: isWhole ? "" : last.id };
}

function listAsRust({ offset, limit }: ListClassRuntimesRequest, units: ScriptedUnits) {
  return { items: page(units.summaries(), offset ?? 0, limit) };
}

function page(all: readonly ClassRuntimeSummary[], start: number, limit: number | undefined): ClassRuntimeSummary[] {
  return all.slice(start, limit === undefined || limit === 0 ? undefined : start + limit);
}

function wanted(filter: string | undefined, value: string | undefined): boolean {
  return filter === undefined || filter === "" || filter === value;
}

function enforcement({ unit }: HeldUnit) {
  const digest = "sha256:1";
  const decision = { component: "echo", dimension: "replicas", appliedAt: "2026-01-05T11:59:00Z", digest };
  return {
    enforcement: {
      conditions: [{ type: "NfrEnforced", status: "True", reason: "Enforcing", message: "enforced" }],
      states: [
        {
          component: "echo",
          dimension: "replicas",
          lastSkip: "cooldown",
          lastAction: { at: "2026-01-05T11:59:00Z", from: 2, to: 6, lane: "emergency" },
          directionChanges: 1,
        },
        { component: "echo", dimension: "cpu", lastAction: { from: Number.NaN, to: 1 } },
      ],
      decisions: [{ ...decision, eventName: `${unit.id}-1`, record: "{}" }],
    },
  };
}

function linesOf({ unit }: HeldUnit) {
  const at = "2026-01-05T11:59:00Z";
  return unit.functions.map(({ functionKey }) => ({ pod: `${unit.id}-0`, functionKey, at, text: "started" }));
}

function explain({ unit, state }: HeldUnit) {
  const verdict =
    state.condition === "running"
      ? Verdict.HEALTHY
      : state.condition === "down"
        ? Verdict.PERMANENT
        : Verdict.TRANSIENT;
  const suggestedAction = verdict === Verdict.PERMANENT ? "correct the image" : "";
  const message = state.message ?? state.phase;
  return {
    explanation: {
      deploymentId: unit.id,
      summary: message,
      verdict,
      suggestedAction,
      root: {
        level: FindingLevel.CLASS,
        name: `${unit.packageName}.${unit.classKey}`,
        verdict,
        reason: verdict === Verdict.HEALTHY ? "" : "ImagePull",
        message,
        suggestedAction,
        causes: unit.functions.map(({ functionKey }) => ({
          level: FindingLevel.FUNCTION,
          name: functionKey,
          verdict,
          message,
        })),
      },
      observedAt: new Date().toISOString(),
    },
  };
}

function usageOf(deploymentId: string) {
  const amounts = { cpuMillicores: 300, memoryBytes: 2 ** 20, maxCpuMillicores: 200, maxMemoryBytes: 2 ** 19 };
  return { deploymentId, namespace: "shop", component: "echo", pods: 2, ...amounts, observedAt: { seconds: 10n } };
}
