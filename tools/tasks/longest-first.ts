import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "./root.ts";

/**
 * The suites that take more than twenty seconds on two cores, longest first. A fresh clone has no recorded durations,
 * and file size is a bad estimate: a short file with a long run time would start last while other workers are idle.
 */
export const LONGEST: readonly string[] = [
  "tests/docs/test/guides.test.ts",
  "apps/console/test/console.test.ts",
  "apps/dev-stack/test/lab.test.ts",
  "tests/state-safety/test/state-safety.test.ts",
  "apps/dev-stack/test/stack.test.ts",
  "tests/first-day/test/first-day.test.ts",
  "tests/installation/test/kustomize.test.ts",
  "apps/class-runtime-manager/test/kill-points.test.ts",
  "apps/class-runtime-manager/test/outages.test.ts",
  "apps/class-runtime-manager/test/faults.test.ts",
  "apps/class-runtime-manager/test/preview.test.ts",
  "packages/storage/test/etcd-suite.test.ts",
  "apps/console/test/runtimes.test.ts",
  "apps/console/test/many-objects.test.ts",
  "apps/package-manager/test/e2e.test.ts",
  "tests/conformance/test/conformance.test.ts",
  "packages/kube-runtime/test/faults.test.ts",
  "apps/class-runtime-manager/test/process.test.ts",
  "apps/class-runtime-manager/test/state-stores.test.ts",
  "apps/class-runtime-manager/test/rights.test.ts",
  "packages/kube-apiserver/test/real-scenarios.test.ts",
  "tests/one-process/test/determinism.test.ts",
  "apps/package-manager/test/process.test.ts",
  "packages/testkit/test/etcd.test.ts",
  "apps/class-runtime-manager/test/knative.test.ts",
  "apps/class-runtime-manager/test/scale-to-zero.test.ts",
  "apps/class-runtime-manager/test/references.test.ts",
  "tests/examples/test/function-pods.test.ts",
  "apps/package-manager/test/namespaces.test.ts",
  "apps/class-runtime-manager/test/template-roll-out.test.ts",
  "packages/storage/test/etcd-faults.test.ts",
  "apps/class-runtime-manager/test/converges.test.ts",
  "apps/class-runtime-manager/test/wrong-input-kubectl.test.ts",
  "apps/class-runtime-manager/test/controller.test.ts",
  "packages/kube-runtime/test/rights.test.ts",
  "apps/dev-stack/test/state.test.ts",
  "apps/dev-stack/test/life-cycle.test.ts",
  "apps/dev-stack/test/plan-objects.test.ts",
  "packages/testkit/test/kubernetes.test.ts",
  "apps/cli/test/completion.test.ts",
  "apps/cli/test/by-kind.test.ts",
  "apps/cli/test/screens.test.ts",
  "apps/cli/test/init.test.ts",
  "apps/class-runtime-manager/test/grpc-kubernetes.test.ts",
  "apps/package-manager/test/kill-points.test.ts",
  "apps/package-manager/test/reloaded-settings.test.ts",
  "apps/class-runtime-manager/test/reloaded-settings.test.ts",
  "tests/images/test/release.test.ts",
  "tests/images/test/bundles.test.ts",
];

/** The fields of a test file that determine its position. */
interface Queued {
  readonly moduleId: string;
  readonly project: { readonly name: string };
}

/** Moves the longest suites of each project to its front. */
export function longestFirst<T extends Queued>(files: readonly T[]): T[] {
  const projects = [...new Set(files.map(({ project }) => project.name))];
  return files.toSorted(
    (a, b) => projects.indexOf(a.project.name) - projects.indexOf(b.project.name) || rankOf(a) - rankOf(b),
  );
}

function rankOf({ moduleId }: Queued): number {
  const index = LONGEST.indexOf(path.relative(ROOT, moduleId).split(path.sep).join("/"));
  return index < 0 ? LONGEST.length : index;
}

/** The default order of Vitest after the longest suites. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longestFirst(await super.sort(files));
  }
}
