import { classRequirements } from "../../rendering/plan/requirements.ts";
import type { Profile } from "../../rendering/model/cluster-facts.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { TemplateScore } from "../template.ts";

/** The location that a class runs in. */
export interface Site {
  readonly profile: Profile;
  readonly isEdge: boolean;
  readonly isDatacenter: boolean;
  /** Source of this information, for the explanation of a score. */
  readonly source: string;
}

const PROFILE_OF_KIND = { dev: "dev", edge: "edge", cloud: "full" } as const;

/** The environment of the class takes precedence over the profile of the cluster. */
export function siteOf({ cluster, environment }: RenderInput): Site {
  if (environment === undefined) {
    return { profile: cluster.profile, ...cluster.flags, source: `profile ${cluster.profile}` };
  }
  const { kind } = environment.spec;
  return {
    profile: PROFILE_OF_KIND[kind],
    isEdge: kind === "edge",
    isDatacenter: kind === "cloud",
    source: `environment ${environment.name} of kind ${kind}`,
  };
}

/** Points with their explanation. */
export type Point = readonly [points: number, because: string];

/** Sums up points. */
export function scoreOf(...points: readonly (Point | undefined)[]): TemplateScore {
  const counted = points.filter((point) => point !== undefined);
  return {
    eligible: true,
    score: counted.reduce((sum, [value]) => sum + value, 0),
    because: counted.map(([value, because]) => `${value >= 0 ? "+" : ""}${value} ${because}`),
  };
}

/** A template that cannot run the class in this cluster. */
export function notEligible(because: string): TemplateScore {
  return { eligible: false, score: 0, because: [because] };
}

interface Threshold {
  readonly at: number;
  readonly points: number;
}

/** Points for requirements: throughput and availability at or above the threshold, latency at or below it. */
export function nfrPoints(
  { spec, environment }: RenderInput,
  thresholds: {
    readonly throughputRps?: Threshold;
    readonly latencyMs?: Threshold;
    readonly availability?: Threshold;
    readonly strong?: number;
  },
): readonly (Point | undefined)[] {
  const demand = classRequirements(spec, environment);
  const { throughputRps, latencyMs, availability, strong } = thresholds;
  const isStated = (value: number | undefined): value is number => value !== undefined;
  return [
    throughputRps && isStated(demand.throughputRps) && demand.throughputRps >= throughputRps.at
      ? [throughputRps.points, `for ${demand.throughputRps} requests per second (from ${throughputRps.at})`]
      : undefined,
    latencyMs && isStated(demand.latencyMs) && demand.latencyMs <= latencyMs.at
      ? [latencyMs.points, `for latency of ${demand.latencyMs} ms (up to ${latencyMs.at})`]
      : undefined,
    availability && isStated(demand.availability) && demand.availability >= availability.at
      ? [availability.points, `for availability ${demand.availability} (from ${availability.at})`]
      : undefined,
    strong !== undefined && demand.consistency === "strong" ? [strong, "for strong consistency"] : undefined,
  ];
}
