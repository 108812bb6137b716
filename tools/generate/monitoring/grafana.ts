import type { Dashboard, DashboardVariable, Panel } from "./model.ts";

/** The schema of Grafana 12; older versions ignore what they do not know. */
const SCHEMA_VERSION = 41;

const DATASOURCE = { type: "prometheus", uid: "${datasource}" } as const;
const REF_IDS = "ABCDEFGHIJ";
const COLUMNS = 24;
const WIDTH = 8;
const HEIGHT = 8;

/** The model of a dashboard, as Grafana imports and exports it. */
export function grafanaDashboard(dashboard: Dashboard): object {
  const { uid, title, description, variables } = dashboard;
  return {
    annotations: { list: [] },
    description,
    editable: true,
    graphTooltip: 1,
    links: [
      { asDropdown: true, includeVars: false, keepTime: true, tags: ["oaas"], title: "OaaS", type: "dashboards" },
    ],
    panels: placedPanels(dashboard),
    refresh: "1m",
    schemaVersion: SCHEMA_VERSION,
    tags: ["oaas"],
    templating: { list: [datasourceVariable(), ...variables.map(queryVariable)] },
    time: { from: "now-6h", to: "now" },
    timepicker: {},
    timezone: "browser",
    title,
    uid,
    version: 1,
  };
}

/** A header for each row, and three panels beside each other. */
function placedPanels({ rows }: Dashboard): object[] {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    const gridPos = { h: 1, w: COLUMNS, x: 0, y };
    placed.push({ collapsed: false, gridPos, id: placed.length + 1, panels: [], title, type: "row" });
    y += 1;
    const perLine = COLUMNS / WIDTH;
    for (const [index, panel] of panels.entries()) {
      const place = { h: HEIGHT, w: WIDTH, x: (index % perLine) * WIDTH, y: y + Math.floor(index / perLine) * HEIGHT };
      placed.push(grafanaPanel(panel, placed.length + 1, place));
    }
    y += Math.ceil(panels.length / perLine) * HEIGHT;
  }
  return placed;
}

function grafanaPanel(panel: Panel, id: number, gridPos: object): object {
  const { title, description, unit, kind = "timeseries", queries, valueNames = {} } = panel;
  const names = Object.entries(valueNames).map(([value, text]) => [value, { text }] as const);
  const mappings = names.length === 0 ? [] : [{ options: Object.fromEntries(names), type: "value" }];
  return {
    datasource: DATASOURCE,
    description,
    fieldConfig: { defaults: { mappings, min: 0, unit }, overrides: [] },
    gridPos,
    id,
    options: PANEL_OPTIONS[kind],
    targets: queries.map(({ expr, legend }, index) => ({
      datasource: DATASOURCE,
      editorMode: "code",
      expr,
      ...(kind === "heatmap" ? { format: "heatmap" } : {}),
      legendFormat: legend,
      range: true,
      refId: REF_IDS.charAt(index),
    })),
    title,
    type: kind,
  };
}

const PANEL_OPTIONS: Readonly<Record<NonNullable<Panel["kind"]>, object>> = {
  timeseries: {
    legend: { calcs: [], displayMode: "list", placement: "bottom", showLegend: true },
    tooltip: { mode: "multi", sort: "desc" },
  },
  stat: { colorMode: "value", graphMode: "area", reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false } },
  heatmap: { calculate: false, color: { mode: "scheme", scheme: "Oranges" }, yAxis: { unit: "s" } },
};

function datasourceVariable(): object {
  return {
    current: {},
    includeAll: false,
    label: "Data source",
    multi: false,
    name: "datasource",
    options: [],
    query: "prometheus",
    refresh: 1,
    type: "datasource",
  };
}

/** All values by default; `.*` also matches series without the label. */
function queryVariable({ name, label, series, seriesLabel, isSingle }: DashboardVariable): object {
  const query = `label_values(${series}, ${seriesLabel})`;
  const selection = isSingle
    ? { current: {}, includeAll: false, multi: false }
    : { allValue: ".*", current: { text: ["All"], value: ["$__all"] }, includeAll: true, multi: true };
  return {
    ...selection,
    datasource: DATASOURCE,
    definition: query,
    label,
    name,
    options: [],
    query: { qryType: 1, query, refId: "PrometheusVariableQueryEditor-VariableQuery" },
    refresh: 2,
    sort: 1,
    type: "query",
  };
}
