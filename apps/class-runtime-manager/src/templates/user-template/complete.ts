import type { EnvironmentConfigSpec } from "@oaas/contracts/crd";
import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import { hashJson } from "@oaas/foundation/hash";
import { isJsonObject } from "@oaas/kube-core";
import type { ClassPlan } from "../../rendering/plan/class-plan.ts";
import {
  componentLabels,
  FUNCTION_KEY_ANNOTATION,
  selectorLabels,
  TEMPLATE_ANNOTATION,
} from "../../rendering/manifests/labels.ts";
import { resolveImage } from "../../rendering/plan/images.ts";
import { createManifest, omitEmpty, omitUndefined } from "../../rendering/manifests/manifest.ts";
import { jobName, statefulSetName } from "../../rendering/plan/names.ts";
import { renderFunctionContainer, renderFunctionPod, FUNCTION_CONTAINER } from "../../rendering/manifests/pod.ts";
import { alwaysOnReplicas } from "../../rendering/plan/scale.ts";
import { renderScheduling } from "../../rendering/manifests/scheduling.ts";
import { CONTAINER_SECURITY } from "../../rendering/manifests/security.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import type { WorkloadContext } from "../../rendering/manifests/pod.ts";
import { asText } from "./language.ts";

type Json = Readonly<Record<string, unknown>>;
type Images = EnvironmentConfigSpec["images"];

/** Converts a filled manifest to a child of the class: adds missing metadata and overrides identifying labels. */
export function toChildManifest(plan: ClassPlan, filled: Json, context: WorkloadContext | undefined): Manifest {
  const { input, base, policy } = plan;
  const { metadata, apiVersion, kind, ...body } = filled;
  const given = jsonOf(metadata);
  const app = context?.fn.name ?? base;
  return createManifest(
    input,
    {
      apiVersion: String(apiVersion),
      kind: String(kind),
      name: typeof given["name"] === "string" ? given["name"] : app,
      labels: {
        ...toTexts(given["labels"]),
        ...componentLabels(input, app, context === undefined ? "template" : "function", context?.fn.key),
      },
      annotations: {
        ...toTexts(given["annotations"]),
        [TEMPLATE_ANNOTATION]: policy.id,
        ...(context === undefined ? {} : { [FUNCTION_KEY_ANNOTATION]: context.fn.key }),
      },
    },
    kind === "ConfigMap" && body["data"] !== undefined ? { ...body, data: toTexts(body["data"]) } : body,
  );
}

/** Applies the registry mirrors of the environment to all images; violations name images that it does not allow. */
export function withResolvedImages(object: Manifest, images: Images): Result<Manifest, readonly Violation[]> {
  const spec = jsonOf(object["spec"]);
  const template = jsonOf(spec["template"]);
  const pod = jsonOf(template["spec"]);
  const violations: Violation[] = [];
  const lists = ["initContainers", "containers"].flatMap((list): [string, unknown][] => {
    const given = pod[list];
    if (!Array.isArray(given)) return [];
    return [
      [
        list,
        given.map((container: unknown, index) => {
          if (!isJsonObject(container) || typeof container["image"] !== "string") return container;
          const image = resolveImage(container["image"], images);
          if (image.ok) return { ...container, image: image.value };
          const path = pathOf(ROOT_PATH, "spec", "template", "spec", list, index, "image");
          violations.push({ ...image.error, path });
          return container;
        }),
      ],
    ];
  });
  if (Array.isArray(pod["volumes"])) {
    lists.push(["volumes", pod["volumes"].map((volume: unknown, index) => resolveVolume(volume, index))]);
  }
  if (violations.length > 0) return err(violations);
  if (lists.length === 0) return ok(object);
  const whole = { ...template, spec: { ...pod, ...Object.fromEntries(lists) } };
  return ok({ ...object, spec: { ...spec, template: whole } });

  /** A volume can be an image too. */
  function resolveVolume(volume: unknown, index: number): unknown {
    const source = isJsonObject(volume) ? volume["image"] : undefined;
    if (!isJsonObject(volume) || !isJsonObject(source) || typeof source["reference"] !== "string") return volume;
    const image = resolveImage(source["reference"], images);
    if (image.ok) return { ...volume, image: { ...source, reference: image.value } };
    const path = pathOf(ROOT_PATH, "spec", "template", "spec", "volumes", index, "image", "reference");
    violations.push({ ...image.error, path });
    return volume;
  }
}

/**
 * Completes the workload of a function with selector, replicas (unless autoscaled), pod labels, container, scheduling
 * and security. Fields of the template take precedence.
 */
export function completeWorkload(object: Manifest, context: WorkloadContext, scaled: boolean): Manifest {
  const { plan, fn } = context;
  const spec = jsonOf(object["spec"]);
  const template = jsonOf(spec["template"]);
  const meta = jsonOf(template["metadata"]);
  const selector = selectorLabels(plan.input, fn.name);
  const selects = object.kind !== "Job" && object.apiVersion === "apps/v1";
  const named = toTexts(jsonOf(spec["selector"])["matchLabels"]);
  const whole = omitUndefined({
    ...object,
    spec: {
      ...(!scaled && (object.kind === "Deployment" || object.kind === "StatefulSet")
        ? { replicas: alwaysOnReplicas(fn.scale) }
        : {}),
      ...(object.kind === "StatefulSet" ? { serviceName: fn.name } : {}),
      ...spec,
      ...(selects ? { selector: { matchLabels: { ...named, ...selector } } } : {}),
      template: {
        ...template,
        metadata: {
          ...meta,
          annotations: meta["annotations"] === undefined ? undefined : toTexts(meta["annotations"]),
          labels: {
            ...toTexts(meta["labels"]),
            ...named,
            ...componentLabels(plan.input, fn.name, "function", fn.key),
          },
        },
        spec: podSpec(jsonOf(template["spec"]), object, context),
      },
    },
  }) as Manifest;
  return withWorkloadName(whole, fn.name);
}

/** The pods of a Job are immutable, so it is named after its hash; StatefulSet names must be shorter. */
function withWorkloadName(object: Manifest, fallback: string): Manifest {
  const name = object.metadata.name ?? fallback;
  if (object.kind === "Job") {
    return { ...object, metadata: { ...object.metadata, name: jobName(name, hashJson(object["spec"])) } };
  }
  return object.kind === "StatefulSet"
    ? { ...object, metadata: { ...object.metadata, name: statefulSetName(name) } }
    : object;
}

function podSpec(given: Json, object: Manifest, context: WorkloadContext): Json {
  const { plan, fn } = context;
  const { input, policy } = plan;
  const onKnative = object.apiVersion.startsWith("serving.knative.dev/");
  const {
    containers: _ours,
    initContainers,
    securityContext,
    terminationGracePeriodSeconds,
    ...identity
  } = renderFunctionPod(context);
  const place = renderScheduling({
    input,
    policy,
    selector: selectorLabels(input, fn.name),
    spread: policy.spread,
    stated: fn.spec.provision_config,
  });
  return {
    ...identity,
    ...(onKnative ? {} : { ...place, securityContext, terminationGracePeriodSeconds }),
    ...(object.kind === "Job" ? { restartPolicy: "OnFailure" } : {}),
    ...given,
    ...(onKnative ? {} : { initContainers: omitEmpty(mergeInitContainers(initContainers, given["initContainers"])) }),
    containers: containers(given["containers"], context, { onKnative, isJob: object.kind === "Job" }),
  };
}

function containers(
  given: unknown,
  context: WorkloadContext,
  { onKnative, isJob }: { readonly onKnative: boolean; readonly isJob: boolean },
): readonly Json[] {
  const ours = renderFunctionContainer(context);
  const { readinessProbe: _r, livenessProbe: _l, startupProbe: _s, ports: _p, ...bare } = ours;
  const base: Json = isJob ? bare : onKnative ? { ...bare, ports: knativePorts(context) } : ours;
  const listed = Array.isArray(given) ? given.filter(isJsonObject) : [];
  const withOurs = listed.some(({ name }) => name === FUNCTION_CONTAINER)
    ? listed
    : [{ name: FUNCTION_CONTAINER }, ...listed];
  return withOurs.map((container): Json =>
    container["name"] === FUNCTION_CONTAINER
      ? { ...base, ...container, env: mergeEnv(base["env"], container["env"]) }
      : { securityContext: CONTAINER_SECURITY, ...container, env: mergeEnv(undefined, container["env"]) },
  );
}

function knativePorts({ fn }: WorkloadContext): unknown {
  const name = fn.spec.provision_config?.need_http2 === true ? "h2c" : "http1";
  return [{ name, containerPort: fn.port, protocol: "TCP" }];
}

/** Merges variables; the template takes precedence. Values become text. */
function mergeEnv(ours: unknown, theirs: unknown): readonly unknown[] | undefined {
  const listed = (list: unknown): readonly Json[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
  const all = [...listed(ours), ...listed(theirs)];
  if (all.length === 0) return undefined;
  const named = new Map(all.map((variable) => [variable["name"], variable]));
  return [...named.values()].map((variable) =>
    variable["value"] === undefined ? variable : { ...variable, value: asText(variable["value"]) },
  );
}

/** A map with text values. */
function toTexts(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(jsonOf(value)).map(([name, member]) => [name, asText(member)]));
}

/**
 * Init containers of the template run after ours, since they may need the state store; containers that it copied from
 * our pod are not duplicated.
 */
function mergeInitContainers(ours: unknown, theirs: unknown): readonly Json[] {
  const listed = (list: unknown): readonly Json[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);
  const own = listed(theirs);
  return [...listed(ours).filter(({ name }) => !own.some((one) => one["name"] === name)), ...own];
}

function jsonOf(value: unknown): Json {
  return isJsonObject(value) ? value : {};
}
