import type { Compliance } from "@oaas/nfr";
import type { Counter, Labels, Meter } from "@oaas/observability";

type ViolationLabel = "class_namespace" | "class" | "component" | "requirement";

/** The name of a class. */
interface ClassName {
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Counts the time in which requirements are violated. Its rate over a window is the share of the window in which a
 * requirement was violated, also across changes of the leader. Unknown is not violated.
 */
export class ViolationTime {
  readonly #seconds: Counter<ViolationLabel>;
  /** Labels of the series of each class. */
  readonly #series = new Map<string, Map<string, Labels<ViolationLabel>>>();
  #lastTickMs: number | undefined;
  #elapsedSeconds = 0;

  constructor(meter: Meter) {
    this.#seconds = meter.counter({
      name: "crm_nfr_violated_seconds_total",
      help: "Time in which a requirement was violated, by class, component and requirement.",
      labels: ["class_namespace", "class", "component", "requirement"],
    });
  }

  /** Starts a term of leadership: the time before it counts nowhere. */
  restart(): void {
    this.#lastTickMs = undefined;
  }

  /** Starts a measurement of these classes, and removes the series of all others. */
  startTick(atMs: number, classes: readonly ClassName[]): void {
    this.#elapsedSeconds = (atMs - (this.#lastTickMs ?? atMs)) / 1000;
    this.#lastTickMs = atMs;
    const keys = new Set(classes.map(keyOf));
    for (const [key, series] of this.#series) {
      if (keys.has(key)) continue;
      for (const labels of series.values()) this.#seconds.remove(labels);
      this.#series.delete(key);
    }
  }

  /** Adds the time since the last measurement to the violated requirements of a class. */
  add(owner: ClassName, compliance: readonly Compliance[]): void {
    const key = keyOf(owner);
    const series = this.#series.get(key) ?? new Map<string, Labels<ViolationLabel>>();
    this.#series.set(key, series);
    for (const { component, requirement, status } of compliance) {
      const labels = { class_namespace: owner.namespace ?? "", class: owner.name, component, requirement };
      series.set(`${component}/${requirement}`, labels);
      this.#seconds.add(status === "violated" ? this.#elapsedSeconds : 0, labels);
    }
  }
}

function keyOf({ namespace = "", name }: ClassName): string {
  return `${namespace}/${name}`;
}
