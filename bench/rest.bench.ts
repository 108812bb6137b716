import { packageFromWire, packageToWire, packageView } from "@oaas/contracts/rest";
import type { Bench } from "./harness.ts";

/** A large package: ten classes and twenty functions with a deployment. */
function packageText(): string {
  const functions = Array.from({ length: 20 }, (_, index) => ({
    key: `Class${index % 10}.method${index}`,
    function_type: "CUSTOM",
    provision_config: {
      container_image: `registry.example/shop/function-${index}:1.0`,
      port: 8080,
      cpu_request: "100m",
      cpu_limit: "1",
      memory_request: "128Mi",
      memory_limit: "256Mi",
      min_scale: 1,
      max_scale: 10,
    },
    config: { LOG: "info", HTTP_PORT: "8080", REGION: "eu" },
  }));
  const classes = Array.from({ length: 10 }, (_, index) => ({
    key: `Class${index}`,
    state_spec: { consistency_model: "STRONG", persistent: true },
    function_bindings: functions
      .filter((_fn, at) => at % 10 === index)
      .map(({ key }, at) => ({ name: `m${at}`, function_key: key, access_modifier: "PUBLIC" })),
  }));
  const deployments = [
    {
      key: "shop-prod",
      package_name: "shop",
      class_key: "Class0",
      target_envs: ["eu-1", "eu-2"],
      nfr_requirements: { availability: 0.999 },
    },
  ];
  return JSON.stringify({ name: "shop", version: "1.0.0", classes, functions, deployments });
}

/** Median microseconds of one call, over 31 samples of 50 calls. */
function medianMicros(work: () => unknown): number {
  let kept: unknown;
  const samples = Array.from({ length: 31 }, () => {
    const start = performance.now();
    for (let call = 0; call < 50; call += 1) kept = work();
    return ((performance.now() - start) * 1000) / 50;
  });
  if (kept === undefined) throw new Error("the work returned nothing");
  return samples.toSorted((a, b) => a - b)[15] ?? Number.NaN;
}

/** The cost of reading and writing a package in addition to its JSON. */
export const bench: Bench = {
  name: "rest",
  async run(log) {
    const text = packageText();
    const read = packageFromWire(JSON.parse(text));
    if (!read.ok) throw new Error(JSON.stringify(read.error));
    const broken = { ...(JSON.parse(text) as object), name: "not a name", version: [] };

    const json = medianMicros(() => JSON.parse(text));
    log("reading a package");
    const reading = medianMicros(() => packageFromWire(JSON.parse(text)));
    const refusing = medianMicros(() => packageFromWire(broken));
    log("writing a package");
    const writing = medianMicros(() => JSON.stringify(packageToWire(read.value)));
    const checking = medianMicros(() => packageView.safeParse(packageToWire(read.value)));

    return {
      title: `REST: a package of 10 classes and 20 functions (${text.length} bytes)`,
      measurements: [
        { name: "JSON.parse alone", value: json, unit: "µs" },
        { name: "read: parse, validate, convert to the model", value: reading, unit: "µs" },
        { name: "reject a document with two errors", value: refusing, unit: "µs" },
        { name: "write: convert to JSON text", value: writing, unit: "µs" },
        { name: "write and validate against the response schema", value: checking, unit: "µs" },
      ],
      ratios: [
        {
          name: "reading / JSON.parse",
          value: reading / json,
          explains: "time to read and validate a package, relative to JSON.parse; smaller is better",
        },
      ],
    };
  },
};
