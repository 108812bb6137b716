import { expect, test } from "vitest";
import { checkPodSettings, podSettingsOf } from "./pod-settings.ts";

const CASES: readonly { why: string; given: Parameters<typeof checkPodSettings>[0]; paths: readonly string[] }[] = [
  { why: "a name of the platform", given: { env: [{ name: "FUNCTION_KEY" }] }, paths: ["$.env[0].name"] },
  {
    why: "a mount without a volume",
    given: { volumeMounts: [{ name: "v", mountPath: "/v" }] },
    paths: ["$.volumeMounts[0].name"],
  },
  {
    why: "two files with one path",
    given: {
      volumes: [
        {
          name: "v",
          projected: {
            sources: [
              { secret: { name: "a", items: [{ key: "k", path: "f" }] } },
              { serviceAccountToken: { path: "f" } },
            ],
          },
        },
      ],
    },
    paths: ["$.volumes[0].projected.sources[1]"],
  },
  { why: "CPU has its own field", given: { resources: { limits: { cpu: 1 } } }, paths: ["$.resources.limits.cpu"] },
  {
    why: "half a device",
    given: { resources: { limits: { "nvidia.com/gpu": "500m" } } },
    paths: ["$.resources.limits['nvidia.com/gpu']"],
  },
  {
    why: "a request that differs from the limit",
    given: { resources: { requests: { "nvidia.com/gpu": 1 }, limits: { "nvidia.com/gpu": 2 } } },
    paths: ["$.resources.requests['nvidia.com/gpu']"],
  },
  { why: "a device", given: { resources: { limits: { "nvidia.com/gpu": 2 } } }, paths: [] },
];

test.each(CASES)("checks pod settings: $why", ({ given, paths }) => {
  const violations = checkPodSettings(given);
  expect(violations.map(({ path }) => path)).toEqual(paths);
  expect(violations.every(({ fix }) => fix !== undefined)).toBe(true);
});

test("selects the pod settings of an object with further members", () => {
  const provision = { maxConcurrency: 1, command: ["a"], args: undefined };
  expect(podSettingsOf(provision)).toEqual({ command: ["a"] });
  expect(podSettingsOf({})).toBeUndefined();
});
