import type { ClusterName, ComponentUsage, DeploymentKey, DrainedUnit, DrainProgress, UnitId } from "@oaas/models";
import { expect, test } from "vitest";
import { limitRemaining, limitUsage } from "./limited-entries.ts";

const used = (component: string, cpuMillicores: number, memoryBytes: number): ComponentUsage => ({
  unitId: "unit" as UnitId,
  namespace: "shop",
  component,
  pods: 1,
  cpuMillicores,
  memoryBytes,
  maxCpuMillicores: cpuMillicores,
  maxMemoryBytes: memoryBytes,
});

test("limits usage to the components that use the most CPU, then memory", () => {
  const usage = [used("small", 1, 9), used("light", 5, 1), used("heavy", 5, 2)];
  const names = (maxEntries?: number): string =>
    limitUsage(usage, maxEntries)
      .map(({ component }) => component)
      .join(" ");
  expect(names(1)).toBe("heavy");
  expect(names(2), "in the order of the list").toBe("light heavy");
  expect(names(9)).toBe("small light heavy");
  expect(names(), "unchanged without a limit").toBe("small light heavy");
});

test("limits a drain to the deployments that need attention, and counts all", () => {
  const left = (deployment: string, state: DrainedUnit["state"]): DrainedUnit => ({
    deployment: deployment as DeploymentKey,
    state,
    message: "",
  });
  const progress: DrainProgress = {
    cluster: "east" as ClusterName,
    state: "draining",
    remaining: [left("a", "waiting"), left("b", "moving"), left("c", "blocked"), left("d", "blocked")],
  };
  const { remaining, remainingCount } = limitRemaining(progress, 3);
  expect(remaining.map(({ deployment }) => deployment).join("")).toBe("bcd");
  expect(remainingCount).toBe(4);
  expect(limitRemaining(progress, undefined)).toBe(progress);
});
