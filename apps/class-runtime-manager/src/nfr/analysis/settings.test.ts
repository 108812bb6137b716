import { loadConfig } from "@oaas/config";
import { expect, it } from "vitest";
import { crmConfig } from "../../config.ts";
import { policySettings } from "../enforcer/settings.ts";
import { analyzerSettings } from "./settings.ts";

const settingsOf = (env: Record<string, string>) => analyzerSettings(loadConfig(crmConfig, { env }));

it("takes window, step, rate window and CPU from the configuration", () => {
  expect(settingsOf({})).toMatchObject({
    windowMs: 600_000,
    stepMs: 30_000,
    rateWindowMs: 120_000,
    maxDataAgeMs: 180_000,
  });
  const env = {
    OPRC_CRM_PROM_RANGE: "30m",
    OPRC_CRM_PROM_STEP: "1m",
    OPRC_CRM_PROM_RATE_WINDOW: "5m",
    OPRC_CRM_REQ_CPU_PER_POD_M: "250",
  };
  expect(settingsOf(env)).toMatchObject({
    windowMs: 1_800_000,
    stepMs: 60_000,
    rateWindowMs: 300_000,
    assumedCpuMillicores: 250,
    maxDataAgeMs: 360_000,
  });
});

it("does not call data outdated before the next measurement", () => {
  expect(settingsOf({ OPRC_CRM_ANALYZER_INTERVAL_SECS: "10m" }).maxDataAgeMs).toBe(1_800_000);
});

it("divides the times that are not settings by the speed of a local stack, and multiplies the rates", () => {
  const config = loadConfig(crmConfig, { env: {} });
  const shorter = (slow: object, fast: object) =>
    Object.entries(slow).flatMap(([name, ms]) =>
      (fast as Record<string, unknown>)[name] === ms
        ? []
        : [[name, ms / Number((fast as Record<string, unknown>)[name])]],
    );
  const policy = shorter(policySettings(config), policySettings(config, 10));
  expect(policy).toEqual([
    ["upWindowMs", 10],
    ["downWindowMs", 10],
    ["emergencyRatioMs", 10],
    ["emergencyCooldownMs", 10],
    ["maxDirectionChangesPerHour", 0.1],
    ["verificationMs", 10],
    ["freezeMs", 10],
  ]);
  const analysis = shorter(analyzerSettings(config), analyzerSettings(config, 10));
  expect(analysis).toEqual([
    ["smoothingHalfLifeMs", 10],
    ["settlingMs", 10],
    ["historyHoldMs", 10],
  ]);
});
