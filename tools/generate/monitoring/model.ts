/** One query of a panel. */
export interface PanelQuery {
  readonly expr: string;
  /** The name of each series, with `{{label}}`. */
  readonly legend: string;
}

/** One graph. */
export interface Panel {
  readonly title: string;
  /** A unit id of Grafana. */
  readonly unit: string;
  /** What it shows, and which values need attention. */
  readonly description: string;
  readonly queries: readonly PanelQuery[];
  /** A time series by default. */
  readonly kind?: "timeseries" | "stat" | "heatmap";
  /** Names of values, such as 0 for closed. */
  readonly valueNames?: Readonly<Record<string, string>>;
}

export interface DashboardRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A variable that lists the values of a label. */
export interface DashboardVariable {
  readonly name: string;
  readonly label: string;
  /** A selector of the series that have the label. */
  readonly series: string;
  readonly seriesLabel: string;
  /** One value must be selected. By default many or all can be. */
  readonly isSingle?: true;
}

export interface Dashboard {
  /** Also the name of the file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly DashboardVariable[];
  readonly rows: readonly DashboardRow[];
}

/** critical: someone must act now. warning: someone must act within days. */
export type Severity = "critical" | "warning";

/** A condition that needs a person; each has the page `docs/runbooks/<name>.md`. */
export interface Alert {
  readonly alert: string;
  readonly severity: Severity;
  readonly expr: string;
  /** How long the condition must hold; at once without. */
  readonly for?: string;
  readonly summary: string;
  readonly description: string;
}

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (Alert | RecordingRule)[];
}

/** All panels of a dashboard. */
export function panelsOf({ rows }: Dashboard): readonly Panel[] {
  return rows.flatMap(({ panels }) => panels);
}

/** All alerts of rule groups. Two alerts may share a name when their severities differ. */
export function alertsOf(groups: readonly RuleGroup[]): readonly Alert[] {
  return groups.flatMap(({ rules }) => rules.filter((rule) => "alert" in rule));
}
