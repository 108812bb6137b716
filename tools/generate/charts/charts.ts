import { readFileSync } from "node:fs";
import path from "node:path";
import type { Generator } from "../generator.ts";
import { classRuntimeManagerChart } from "./class-runtime-manager-chart.ts";
import { crdsChart } from "./crds-chart.ts";
import { dataPlaneChart } from "./data-plane-chart.ts";
import type { Chart } from "./model.ts";
import { packageManagerChart } from "./package-manager-chart.ts";
import { renderChart } from "./render.ts";
import { umbrellaChart } from "./umbrella-chart.ts";

const FOLDER = "deploy/charts";

function charts(root: string): readonly Chart[] {
  return [crdsChart, classRuntimeManagerChart(root), packageManagerChart(), dataPlaneChart, umbrellaChart];
}

/** The generated files of the Helm charts: metadata, values with their schema, README, CRDs and roles. */
export const generator: Generator = {
  name: "charts",
  owns: [`${FOLDER}/oaas-crds/templates`],
  async produce(root) {
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
    const files = charts(root).flatMap((chart) =>
      Object.entries(renderChart(chart, version)).map(
        ([file, content]) => [`${FOLDER}/${chart.name}/${file}`, content] as const,
      ),
    );
    return new Map(files);
  },
};
