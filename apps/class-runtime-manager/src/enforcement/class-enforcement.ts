import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { EnforcementDimension } from "@oaas/models";
import { DIMENSIONS, type Dimension, type EnforcementMode } from "@oaas/nfr";
import { ANNOTATIONS } from "../mapping/object-identity.ts";
import type { EnforcementLevel, Environment } from "../rendering/model/cluster-facts.ts";
import { statedEnforcement } from "../rendering/plan/scale.ts";

/** What a class and the operator allow. */
export interface ClassEnforcement {
  readonly mode: EnforcementMode;
  readonly dimensions: ReadonlySet<Dimension>;
  /** Whether pods may restart for new CPU and memory requests. */
  readonly mayRestart: boolean;
  readonly pausedUntilMs?: number;
  /** Annotations whose value is not understood; they have no effect, except that a wrong pause pauses. */
  readonly problems: readonly string[];
}

type Annotations = Readonly<Record<string, string>> | undefined;

const MODES: Readonly<Record<string, EnforcementMode>> = {
  on: "enforce",
  enforce: "enforce",
  observe: "observe",
  off: "off",
};

/** The dimension in the spec that allows a change. */
const STATED_AS: Readonly<Record<Dimension, EnforcementDimension>> = {
  replicas: "replicas",
  max_replicas: "replicas",
  cpu: "cpu",
  memory: "memory",
};

const LEVEL_DIMENSIONS: Readonly<Record<EnforcementLevel, readonly Dimension[]>> = {
  off: [],
  basic: ["replicas", "max_replicas"],
  full: DIMENSIONS,
};

/**
 * The enforcement of a class: the annotation, else the spec, else its environment, else observe, within the level of the
 * operator. A class in mode enforce is observed where the level is off.
 */
export function classEnforcement(
  spec: ClassRuntimeSpec,
  annotations: Annotations,
  level: EnforcementLevel,
  environment?: Environment,
): ClassEnforcement {
  const stated = statedEnforcement(spec, environment);
  const word = annotations?.[ANNOTATIONS.enforcement];
  const annotated = word === undefined ? undefined : MODES[word.toLowerCase()];
  const wanted = annotated ?? stated?.mode ?? "observe";
  const allowed = LEVEL_DIMENSIONS[level];
  const listed = stated?.dimensions;
  const pause = readPause(annotations?.[ANNOTATIONS.enforcementPausedUntil]);
  return {
    mode: wanted === "enforce" && level === "off" ? "observe" : wanted,
    dimensions: new Set(
      DIMENSIONS.filter(
        (one) => (listed?.includes(STATED_AS[one]) ?? true) && (level === "off" || allowed.includes(one)),
      ),
    ),
    mayRestart: annotations?.[ANNOTATIONS.enforcementRestarts] === "allowed",
    ...pause,
    problems: [
      ...(word !== undefined && annotated === undefined
        ? [`annotation ${ANNOTATIONS.enforcement} is ${word}; use on, enforce, observe or off`]
        : []),
      ...(pause.pausedUntilMs === Number.MAX_SAFE_INTEGER
        ? [`annotation ${ANNOTATIONS.enforcementPausedUntil} is not a time; use RFC 3339, such as 2026-01-31T12:00:00Z`]
        : []),
    ],
  };
}

/** A pause that cannot be read lasts until it is corrected: the user asked for one. */
function readPause(text: string | undefined): { readonly pausedUntilMs?: number } {
  if (text === undefined) return {};
  const atMs = Date.parse(text);
  return { pausedUntilMs: Number.isNaN(atMs) ? Number.MAX_SAFE_INTEGER : atMs };
}
