import { Fault } from "@oaas/foundation";
import { CLUSTER_HELP, clusterSettings, runCluster } from "./adapters/cluster-program.ts";

try {
  const settings = clusterSettings(process.argv.slice(2));
  if (settings === undefined) process.stdout.write(CLUSTER_HELP);
  else {
    const program = await runCluster(settings);
    const { url, kubeconfig } = program;
    process.stdout.write(
      `An embedded Kubernetes cluster at ${url}\n\n  export KUBECONFIG=${kubeconfig}\n  kubectl get nodes\n\nCtrl-C stops it.\n`,
    );
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void program.close());
  }
} catch (thrown) {
  const { message, violations } = Fault.from(thrown);
  const lines = violations.map(
    ({ path: at, message: what, fix }) => `  ${at}: ${what}${fix === undefined ? "" : `; ${fix}`}\n`,
  );
  process.stderr.write(`${message}\n${lines.join("")}`);
  process.exitCode = 1;
}
