import { join } from "node:path";
import { internal } from "@oaas/foundation";
import { componentFile, type CommandOptions, type Kubectl } from "@oaas/real-components";

const SERVING = ["configuration", "domain-mapping", "metric", "podautoscaler", "revision", "route", "service"];
const NETWORKING_AND_CACHING = ["certificate", "domain-claim", "ingress", "serverlessservice", "image"];

/** Files of Knative Serving's real CustomResourceDefinitions, its internal ones too. */
export function knativeCrdFiles(): string[] {
  const manifests = componentFile("knative-manifests");
  return [
    ...SERVING.map((kind) => join(manifests, "core", "300-resources", `${kind}.yaml`)),
    ...NETWORKING_AND_CACHING.map((kind) => join(manifests, `${kind}.yaml`)),
  ];
}

/** Makes a running cluster serve Knative's kinds, without anything that acts on them; they are served when it resolves. */
export async function addKnativeKinds(kubectl: Kubectl): Promise<void> {
  const files = fileArgs(knativeCrdFiles());
  await mustDo(kubectl, ["apply", "--server-side", ...files]);
  await mustDo(kubectl, ["wait", "--for=create", "--for=condition=Established", "--timeout=60s", ...files]);
  // The server opens the storage of a kind when somebody first reads it. If that is the kind's own deletion, it may be told that the storage is
  // "(re)initializing", and does not try again for minutes.
  const paths = await mustDo(kubectl, ["get", ...files, `--output=jsonpath=${STORED_AT}`]);
  await Promise.all(
    paths
      .trim()
      .split(" ")
      .map((path) => mustDo(kubectl, ["get", "--raw", path])),
  );
}

const STORED_AT =
  "{range .items[*]}/apis/{.spec.group}/{.spec.versions[?(@.storage==true)].name}/{.spec.names.plural} {end}";

/** Takes Knative's kinds away again, and with them every object of theirs. */
export async function removeKnativeKinds(kubectl: Kubectl): Promise<void> {
  // The server looks every five seconds whether the objects of a kind are gone, and takes few kinds at once.
  await mustDo(kubectl, ["delete", "--ignore-not-found", "--timeout=150s", ...fileArgs(knativeCrdFiles())]);
}

/** How kubectl is given files. */
export const fileArgs = (files: readonly string[]): string[] => files.map((file) => `--filename=${file}`);

/** Runs kubectl; what it refuses is a fault. */
export async function mustDo(kubectl: Kubectl, args: readonly string[], options?: CommandOptions): Promise<string> {
  const { stdout, stderr, exitCode } = await kubectl(args, options);
  if (exitCode !== 0) throw internal(`kubectl ${args.slice(0, 3).join(" ")}: ${stderr.trim()}`);
  return stdout;
}
