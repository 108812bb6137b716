import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  ClassRuntimeSummarySchema,
  CrmEnvHealthSchema,
  DeploymentCondition,
  DeploymentPhase,
  FindingLevel,
  FindingSchema,
  HealthCheckResponse_ServingStatus,
  LifecyclePhase,
  TopologySnapshotSchema,
  Verdict,
} from "@oaas/contracts/grpc";
import type { ClusterName } from "@oaas/models";
import { describe, expect, it } from "vitest";
import { findingFromWire, healthFromServing, healthFromWire, topologyFromWire } from "./facts-from-wire.ts";
import { reportFromWire } from "./report-from-wire.ts";

const edge = "edge" as ClusterName;
const now = Date.UTC(2026, 0, 1);

describe("conversions from the wire", () => {
  it("converts corrections of drift, with a sentence", () => {
    const summary = create(ClassRuntimeSummarySchema, {
      id: "u",
      status: {
        driftCorrections: [
          {
            kind: "Deployment",
            name: "add",
            fields: [{ path: ".spec.replicas", was: "1", now: "3" }],
            changedBy: "kubectl-edit",
            firstAt: "t1",
            lastAt: "t2",
            durationMs: 1500n,
            count: 2,
          },
        ],
      },
    });
    expect(reportFromWire(edge, summary).runtime.status?.driftCorrections).toEqual([
      {
        kind: "Deployment",
        name: "add",
        fields: [{ path: ".spec.replicas", was: "1", now: "3" }],
        changedBy: "kubectl-edit",
        firstAt: "t1",
        lastAt: "t2",
        durationMs: 1500,
        count: 2,
        message:
          "Deployment add: .spec.replicas was 1, is 3 again. Changed by kubectl-edit. Corrected after 1.5 s. " +
          "Corrected 2 times since t1.",
      },
    ]);
  });

  describe("a state store", () => {
    const RUNNING = { condition: DeploymentCondition.RUNNING, lifecyclePhase: LifecyclePhase.AVAILABLE, serving: true };
    const reported = (odgm: object) =>
      reportFromWire(edge, create(ClassRuntimeSummarySchema, { id: "u", status: { ...RUNNING, odgm } }));

    it("is reported with its missing shards and its restart", () => {
      const restart = { state: "WaitingForTurn", reason: "TemplateChanged", message: "another image", nodes: [4n, 3n] };
      const { runtime } = reported({ ready: true, readyReplicas: 2, desiredReplicas: 2, writable: true, restart });
      expect(runtime.status?.stateStore).toEqual({
        ready: true,
        desiredReplicas: 2,
        readyReplicas: 2,
        writable: true,
        missingShards: [],
        restart: { state: "waiting-for-turn", reason: "TemplateChanged", message: "another image", nodes: [3, 4] },
      });
      const ofNewerPeer = reported({ restart: { state: "Draining" } }).runtime.status?.stateStore?.restart;
      expect(ofNewerPeer?.state).toBe("restarting");
    });

    it.each([
      { odgm: { writable: true }, condition: "running", message: undefined },
      { odgm: {}, condition: "running", message: undefined },
      {
        odgm: { writable: false, message: "no leader" },
        condition: "degraded",
        message: "State store: writes are not acknowledged: no leader",
      },
      {
        odgm: { writable: true, missingShards: [{ nodeId: 2n, collection: "shop.Order", partition: 1 }] },
        condition: "degraded",
        message: "State store: node 2 lacks the shard of partition 1 of shop.Order",
      },
    ])("gives a running unit the condition $condition with $odgm", ({ odgm, condition, message }) => {
      const report = reported(odgm);
      expect([report.condition, report.message]).toEqual([condition, message]);
    });
  });

  it("reads why requirements are not measured from the condition", () => {
    const withCondition = (status: string) =>
      create(ClassRuntimeSummarySchema, {
        id: "u",
        status: { conditions: [{ type: "NfrObserved", status, reason: "NoSeries", message: "no series" }] },
      });
    expect(reportFromWire(edge, withCondition("Unknown")).notObserved).toBe("no series");
    expect(reportFromWire(edge, withCondition("True"))).not.toHaveProperty("notObserved");
  });

  it("converts a complete summary", () => {
    const summary = create(ClassRuntimeSummarySchema, {
      id: "u",
      deploymentUnitId: "u",
      packageName: "shop",
      classKey: "shop.Cart",
      targetEnvironment: "ns",
      clusterName: "ns",
      status: {
        condition: DeploymentCondition.DOWN,
        phase: DeploymentPhase.FAILED,
        message: "Degraded",
        lastUpdated: "t1",
        lifecyclePhase: LifecyclePhase.DEGRADED,
        functions: [
          { functionKey: "Cart.add", service: "s", port: 80, predictedUrl: "p", template: "dev", ready: false },
        ],
        nfrRecommendations: [
          {
            component: "Cart.add",
            dimension: "replicas",
            target: 2.2,
            lowerBound: 2,
            upperBound: 4,
            confidence: 0.9,
            basis: "b",
            evidence: { window: "10m", query: "q", values: { rps: 240, bad: Number.NaN }, floor: "min_scale" },
            observedAt: "t3",
            validUntil: "t4",
          },
          { component: "Cart.add", dimension: "cpu", target: 500, current: Number.POSITIVE_INFINITY },
          { component: "odd", dimension: "replicas", target: Number.NaN },
        ],
        lastAppliedRecommendations: [
          {
            component: "Cart.add",
            dimension: "replicas",
            target: 2,
            current: 1,
            applied: {
              action: "apply",
              lane: "stable",
              path: "p",
              clampedBy: "max_scale 2",
              appliedAt: "t6",
              policyVersion: "1",
              digest: "d",
            },
          },
        ],
        lastAppliedAt: "t6",
      },
      nfrCompliance: {
        overallStatus: "Violated",
        lastChecked: "t2",
        measurements: [
          {
            requirement: "max_latency_ms",
            component: "Cart.add",
            required: 100,
            observed: 150,
            unit: "ms",
            status: "violated",
            window: "10m",
            since: "t5",
            errorBudgetLeft: -0.5,
            burnRates: [{ longWindow: "1h", shortWindow: "5m", longRate: 15, shortRate: Number.NaN }],
          },
          { requirement: "availability", required: 0.99, windowSeconds: 60 },
        ],
      },
      resourceRefs: [{ kind: "Deployment", name: "d", namespace: "", apiVersion: "apps/v1" }],
      createdAt: "t0",
      updatedAt: "t1",
      digest: "d1",
      revision: 7n,
      generation: 3n,
      managedBy: "pm",
      deploymentKey: "cart",
    });
    const onWire = fromBinary(ClassRuntimeSummarySchema, toBinary(ClassRuntimeSummarySchema, summary));
    expect(reportFromWire(edge, onWire)).toEqual({
      unitId: "u",
      condition: "down",
      phase: "degraded",
      message: "Degraded",
      digest: "d1",
      revision: 7,
      generation: 3,
      managedBy: "pm",
      deploymentKey: "cart",
      runtime: {
        id: "u",
        unitId: "u",
        packageName: "shop",
        classKey: "shop.Cart",
        targetEnvironment: "ns",
        cluster: "edge",
        createdAt: "t0",
        updatedAt: "t1",
        partitionCount: 1,
        resourceRefs: [{ kind: "Deployment", name: "d", apiVersion: "apps/v1" }],
        deploymentKey: "cart",
        nfrCompliance: {
          overall: "Violated",
          lastChecked: "t2",
          measurements: [
            {
              requirement: "max_latency_ms",
              component: "Cart.add",
              required: 100,
              observed: 150,
              unit: "ms",
              status: "violated",
              window: "10m",
              since: "t5",
              errorBudgetLeft: -0.5,
              burnRates: [{ longWindow: "1h", shortWindow: "5m", longRate: 15 }],
            },
            { requirement: "availability", component: "", required: 0.99, unit: "", window: "60s", burnRates: [] },
          ],
        },
        status: {
          condition: "down",
          serving: false,
          upToDate: false,
          phase: "failed",
          message: "Degraded",
          lastUpdated: "t1",
          functions: [
            {
              functionKey: "Cart.add",
              service: "s",
              port: 80,
              predictedUrl: "p",
              template: "dev",
              condition: "deploying",
              ready: false,
            },
          ],
          recommendations: [
            {
              component: "Cart.add",
              dimension: "replicas",
              target: 2.2,
              lowerBound: 2,
              upperBound: 4,
              confidence: 0.9,
              basis: "b",
              evidence: { window: "10m", query: "q", values: { rps: 240 }, floor: "min_scale" },
              observedAt: "t3",
              validUntil: "t4",
            },
            { component: "Cart.add", dimension: "cpu", target: 500 },
          ],
          lastApplied: [
            {
              component: "Cart.add",
              dimension: "replicas",
              target: 2,
              current: 1,
              applied: {
                action: "apply",
                lane: "stable",
                path: "p",
                clampedBy: "max_scale 2",
                appliedAt: "t6",
                policyVersion: "1",
                digest: "d",
              },
            },
          ],
          lastAppliedAt: "t6",
        },
      },
    });
  });

  it("converts an empty summary", () => {
    const report = reportFromWire(edge, create(ClassRuntimeSummarySchema, { id: "u" }));
    expect(report).toMatchObject({ unitId: "u", condition: "unknown", runtime: { id: "u", partitionCount: 1 } });
    expect(report).not.toHaveProperty("digest");
  });

  const words: { word: string; status: string; why: string }[] = [
    { word: "Healthy", status: "healthy", why: "the standard word" },
    { word: "DEGRADED", status: "degraded", why: "in upper case" },
    { word: "fine, thanks", status: "unknown", why: "an unknown status" },
  ];
  it.each(words)("health $word is $status: $why", ({ word, status }) => {
    const wire = create(CrmEnvHealthSchema, { envName: "ns", status: word, nodeCount: 3, readyNodes: 2 });
    expect(healthFromWire(edge, wire, now)).toEqual({
      cluster: "edge",
      status,
      lastSeen: "2026-01-01T00:00:00.000Z",
      nodeCount: 3,
      readyNodes: 2,
    });
  });

  it.each([
    { reported: 0.5, expected: 0.5 },
    { reported: 7, expected: 1 },
    { reported: -1, expected: 0 },
    { reported: Number.POSITIVE_INFINITY, expected: 1 },
    { reported: Number.NaN, expected: undefined },
  ])("reads a reported availability of $reported as $expected", ({ reported, expected }) => {
    const wire = create(CrmEnvHealthSchema, { status: "Healthy", nodeCount: 3, readyNodes: 2, availability: reported });
    expect(healthFromWire(edge, wire, now).availability).toBe(expected);
  });

  it("reads a measurement in hours, and bounds its evidence", () => {
    const measurement = (more: object) =>
      healthFromWire(
        edge,
        create(CrmEnvHealthSchema, {
          status: "Healthy",
          availabilityMeasurement: {
            value: 0.98,
            apiAvailability: 0.99,
            windowSeconds: 2_592_000,
            halfLifeSeconds: 864_000,
            samples: 7n,
            observedSeconds: 7200n,
            evidenceSeconds: 3600,
            since: { seconds: 1_767_225_600n, nanos: 0 },
            ...more,
          },
        }),
        now,
      ).measurement;
    expect(measurement({})).toEqual({
      value: 0.98,
      apiAvailability: 0.99,
      windowHours: 720,
      halfLifeHours: 240,
      samples: 7,
      observedHours: 2,
      evidenceHours: 1,
      since: "2026-01-01T00:00:00.000Z",
    });
    expect(measurement({ value: 3, nodeAvailability: -1 })).toMatchObject({ value: 1, nodeAvailability: 0 });
    expect(measurement({ evidenceSeconds: 1e300 })).toMatchObject({ evidenceHours: 720 });
    for (const broken of [{ value: Number.NaN }, { evidenceSeconds: 0 }, { evidenceSeconds: Number.NaN }]) {
      expect(measurement(broken)).toBeUndefined();
    }
  });

  it("converts a standard gRPC health check", () => {
    const { SERVING, NOT_SERVING, UNKNOWN } = HealthCheckResponse_ServingStatus;
    expect([SERVING, NOT_SERVING, UNKNOWN].map((serving) => healthFromServing(edge, serving, now).status)).toEqual([
      "healthy",
      "unhealthy",
      "unknown",
    ]);
  });

  it("converts findings, including unknown levels and verdicts", () => {
    const finding = create(FindingSchema, {
      level: FindingLevel.CLASS,
      verdict: Verdict.PERMANENT,
      name: "shop.Cart",
      resource: { kind: "ClassRuntime", name: "u" },
      causes: [{ level: 99 as FindingLevel, verdict: 99 as Verdict, name: "x", count: 3 }],
    });
    expect(findingFromWire(finding)).toMatchObject({
      level: "class",
      verdict: "permanent",
      resource: { kind: "ClassRuntime", name: "u", namespace: null, uid: null },
      causes: [{ level: "class", verdict: "transient", count: 3, since: null }],
    });
  });

  it("drops topology nodes of unknown types and their edges", () => {
    const wire = create(TopologySnapshotSchema, {
      nodes: [
        { id: "a", nodeType: "router", status: "healthy" },
        { id: "b", nodeType: "satellite", status: "healthy" },
      ],
      edges: [
        { fromId: "a", toId: "a" },
        { fromId: "a", toId: "b" },
      ],
      timestamp: { seconds: 1_767_225_600n, nanos: 5_000_000 },
    });
    const topology = topologyFromWire(wire, now);
    expect([topology.nodes.length, topology.edges.length]).toEqual([1, 1]);
    expect(topology.timestamp).toBe("2026-01-01T00:00:00.005Z");
  });
});
