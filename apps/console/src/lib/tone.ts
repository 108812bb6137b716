/** The meaning of a state. The interface adds an icon and the text, so that no one depends on the colour. */
export type Tone = "ok" | "progress" | "warn" | "bad" | "idle";

const TONES: Readonly<Record<string, Tone>> = {
  running: "ok",
  healthy: "ok",
  available: "ok",
  accepted: "ok",
  succeeded: "ok",
  met: "ok",
  compliant: "ok",
  true: "ok",
  applied: "ok",
  kept: "ok",
  deploying: "progress",
  pending: "progress",
  progressing: "progress",
  applying: "progress",
  started: "progress",
  waiting: "progress",
  transient: "progress",
  draining: "progress",
  proposed: "progress",
  compensating: "progress",
  degraded: "warn",
  partial: "warn",
  cordoned: "warn",
  blocked: "warn",
  warning: "warn",
  refused: "warn",
  cancelled: "warn",
  compensated: "warn",
  rolledback: "warn",
  atrisk: "warn",
  down: "bad",
  failed: "bad",
  unhealthy: "bad",
  unreachable: "bad",
  violated: "bad",
  missed: "bad",
  permanent: "bad",
  lost: "bad",
  error: "bad",
};

export function toneOf(state: string): Tone {
  return TONES[state.toLowerCase().replaceAll(/[^a-z]/g, "")] ?? "idle";
}
