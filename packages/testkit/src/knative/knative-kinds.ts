import { join } from "node:path";
import { internal } from "@oaas/foundation";
import { componentFile, type CommandOptions, type Kubectl } from "@oaas/real-components";

const SERVING = ["configuration", "domain-mapping", "metric", "podautoscaler", "revision", "route", "service"];
const NETWORKING_AND_CACHING = ["certificate", "domain-claim", "ingress", "serverlessservice", "image"];

/** The CRD files of Knative Serving, including its internal ones. */
export function knativeCrdFiles(): string[] {
  const manifests = componentFile("knative-manifests");
  return [
    ...SERVING.map((kind) => join(manifests, "core", "300-resources", `${kind}.yaml`)),
    ...NETWORKING_AND_CACHING.map((kind) => join(manifests, `${kind}.yaml`)),
  ];
}

/** Installs the CRDs of Knative without its controllers and waits until they are served. */
export async function addKnativeKinds(kubectl: Kubectl): Promise<void> {
  const files = fileArgs(knativeCrdFiles());
  await runKubectl(kubectl, ["apply", "--server-side", ...files]);
  await runKubectl(kubectl, ["wait", "--for=create", "--for=condition=Established", "--timeout=60s", ...files]);
  // The API server opens the storage of a kind on the first read. If that is the deletion of the CRD, it may fail with
  // "(re)initializing" and is not retried for minutes. So read each kind once.
  const paths = await runKubectl(kubectl, ["get", ...files, `--output=jsonpath=${STORED_AT}`]);
  await Promise.all(
    paths
      .trim()
      .split(" ")
      .map((path) => runKubectl(kubectl, ["get", "--raw", path])),
  );
}

const STORED_AT =
  "{range .items[*]}/apis/{.spec.group}/{.spec.versions[?(@.storage==true)].name}/{.spec.names.plural} {end}";

/** Deletes the CRDs of Knative and all their objects. */
export async function removeKnativeKinds(kubectl: Kubectl): Promise<void> {
  // The API server checks every five seconds whether the objects of a CRD are deleted, for a few CRDs at a time.
  await runKubectl(kubectl, ["delete", "--ignore-not-found", "--timeout=150s", ...fileArgs(knativeCrdFiles())]);
}

export const fileArgs = (files: readonly string[]): string[] => files.map((file) => `--filename=${file}`);

/** Runs kubectl and throws if it fails. */
export async function runKubectl(kubectl: Kubectl, args: readonly string[], options?: CommandOptions): Promise<string> {
  const { stdout, stderr, exitCode } = await kubectl(args, options);
  if (exitCode !== 0) throw internal(`kubectl ${args.slice(0, 3).join(" ")}: ${stderr.trim()}`);
  return stdout;
}
