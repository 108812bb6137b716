import type { Case, KubectlStep, Step, Subject } from "../src/case.ts";
import {
  ANY_OBJECT,
  configMap,
  create,
  installDefinition,
  deployment,
  waitUntilGone,
  pod,
  schemaOf,
  service,
  thing,
  thingDefinition,
  waitFor,
} from "../src/case-steps.ts";

function kubectl(args: string | readonly string[], rest: Omit<KubectlStep, "kubectl"> = {}): KubectlStep {
  return { kubectl: args, ...rest };
}

/**
 * The real server dates its list of schemas in whole seconds. A kubectl with a cached list of another case from the
 * same second gets 304.
 */
const OWN_CACHE = { env: { KUBECACHEDIR: "cache-{ns}" } };

const A = create("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" } }));
const B = create("configmaps", configMap("b", { y: "2", z: "3" }));
const WEB: readonly Step[] = [
  create("deployments", deployment("web", { replicas: 2 })),
  waitFor("deployments/web", { status: { availableReplicas: 2, observedGeneration: 1 } }),
  waitFor("pods", { items: [{ status: { phase: "Running" } }] }),
];
const MANIFEST = configMap("a", { x: "1", y: "1" });

/** An editor script for kubectl edit: one line of sed. */
function editing(expression: string): Record<string, string> {
  return { KUBE_EDITOR: `sed -i '${expression}'` };
}

function kubectlCase(name: string, given: readonly Step[], ...steps: readonly Step[]): Case {
  return { name, given, steps };
}

export const kubectlCases: Subject = {
  subject: "kubectl",
  needs: "api",
  cases: [
    kubectlCase(
      "get as a table",
      [A, B],
      kubectl("get configmaps"),
      kubectl("get cm a"),
      kubectl("get configmaps --show-labels"),
    ),
    kubectlCase(
      "get wide, and without headers",
      [create("services", service("web"))],
      kubectl("get services -o wide"),
      kubectl("get svc --no-headers"),
    ),
    kubectlCase(
      "get as JSON and YAML",
      [A],
      kubectl("get configmap a -o json"),
      kubectl("get configmap a -o yaml"),
      kubectl("get configmaps -o json"),
    ),
    kubectlCase(
      "get with jsonpath, columns, names and templates",
      [A, B],
      kubectl("get configmap a -o jsonpath={.data.x}"),
      kubectl("get configmaps -o custom-columns=NAME:.metadata.name,X:.data.x"),
      kubectl("get configmaps -o name"),
      kubectl(["get", "configmaps", "-o", "go-template={{range .items}}{{.metadata.name}} {{end}}"]),
    ),
    kubectlCase(
      "get by selectors",
      [A, B],
      kubectl("get configmaps -l l=1"),
      kubectl("get configmaps --field-selector metadata.name=b"),
      kubectl("get configmaps -l l=9"),
    ),
    kubectlCase(
      "get sorted, and in chunks",
      [A, B],
      kubectl("get configmaps --sort-by=.metadata.name"),
      kubectl("get configmaps --chunk-size=1"),
    ),
    kubectlCase(
      "get of several kinds",
      [A, create("services", service("web"))],
      kubectl("get configmaps,services"),
      kubectl("get configmap/a service/web -o name"),
    ),
    kubectlCase(
      "get of a missing object",
      [],
      kubectl("get configmap none", { want: 1 }),
      kubectl("get configmap none --ignore-not-found"),
      kubectl("get frobs", { want: 1 }),
      kubectl("get secrets"),
    ),
    {
      name: "get -w prints changes",
      given: [A],
      steps: [
        kubectl("get configmaps -w -o name", { background: "w" }),
        { lines: "w", count: 1 },
        create("configmaps", configMap("b"), { show: [] }),
        { lines: "w", count: 1 },
        { do: "DELETE configmaps/b", show: [] },
        { lines: "w", count: 1 },
      ],
    },
    {
      name: "get -w with events and rows",
      given: [A],
      steps: [
        kubectl("get configmaps -w --output-watch-events", { background: "w" }),
        { lines: "w", count: 2 },
        create("configmaps", configMap("b", { x: "1" }), { show: [] }),
        { lines: "w", count: 1 },
      ],
    },
    kubectlCase(
      "describe a ConfigMap, a Secret, a Service",
      [
        A,
        create("secrets", { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { p: "q" } }),
        create("services", service("web")),
      ],
      kubectl("describe configmap a"),
      kubectl("describe secret s"),
      kubectl("describe service web"),
    ),
    kubectlCase("describe of a missing object", [], kubectl("describe configmap none", { want: 1 })),
    kubectlCase(
      "describe of a custom object",
      [...installDefinition(thingDefinition(ANY_OBJECT)), create("things", thing("a", { n: 1, deep: { l: ["x"] } }))],
      kubectl("describe things.{ns}.test a"),
    ),
    kubectlCase(
      "apply creates, changes, leaves unchanged and removes",
      [],
      kubectl("apply -f -", { stdin: MANIFEST }),
      kubectl("apply -f -", { stdin: MANIFEST }),
      kubectl("apply -f -", { stdin: configMap("a", { x: "2" }) }),
      kubectl("get configmap a -o jsonpath={.data}"),
    ),
    kubectlCase(
      "apply of several documents",
      [],
      kubectl("apply -f -", { stdin: `${JSON.stringify(configMap("a"))}\n---\n${JSON.stringify(configMap("b"))}` }),
      kubectl("get configmaps -o name"),
    ),
    kubectlCase("apply warns about an object without the annotation", [A], kubectl("apply -f -", { stdin: MANIFEST })),
    kubectlCase(
      "apply of invalid objects",
      [],
      kubectl("apply -f -", { stdin: { ...configMap("a"), data: { x: 1 } }, want: 1 }),
      kubectl("apply -f -", { stdin: { ...configMap("a"), extra: 1 }, want: 1 }),
      kubectl("apply -f -", { stdin: deployment("web", { replicas: "two" }), want: 1 }),
      kubectl("apply -f -", { stdin: { ...configMap("a"), kind: "Frob" }, want: 1 }),
    ),
    kubectlCase(
      "apply without validation",
      [],
      kubectl("apply --validate=false -f -", { stdin: { ...configMap("a"), extra: 1 } }),
    ),
    kubectlCase(
      "apply as a dry run",
      [],
      kubectl("apply --dry-run=server -f -", { stdin: MANIFEST }),
      kubectl("apply --dry-run=client -f -", { stdin: MANIFEST }),
      kubectl("get configmap a", { want: 1 }),
    ),
    kubectlCase(
      "server-side apply with a conflict and with force",
      [],
      kubectl("apply --server-side --field-manager=one -f -", { stdin: MANIFEST }),
      kubectl("apply --server-side --field-manager=two -f -", { stdin: configMap("a", { x: "9" }), want: 1 }),
      kubectl("apply --server-side --field-manager=two --force-conflicts -f -", { stdin: configMap("a", { x: "9" }) }),
      kubectl("get configmap a -o yaml --show-managed-fields"),
    ),
    kubectlCase(
      "server-side apply after client-side apply",
      [],
      kubectl("apply -f -", { stdin: MANIFEST }),
      kubectl("apply --server-side -f -", { stdin: configMap("a", { x: "2", y: "1" }) }),
      kubectl("get configmap a -o json --show-managed-fields"),
    ),
    kubectlCase(
      "apply with pruning by label",
      [create("configmaps", configMap("old", {}, { labels: { app: "p" } }))],
      kubectl("apply -f -", { stdin: configMap("old", {}, { labels: { app: "p" } }) }),
      kubectl("apply -f - --prune -l app=p --prune-allowlist=core/v1/ConfigMap", {
        stdin: configMap("new", {}, { labels: { app: "p" } }),
      }),
      kubectl("get configmaps -o name"),
    ),
    kubectlCase(
      "diff prints changes and exits with 1",
      [],
      kubectl("diff -f -", { stdin: MANIFEST, want: 1, show: ["exitCode"] }),
      kubectl("apply -f -", { stdin: MANIFEST }),
      kubectl("diff -f -", { stdin: MANIFEST, want: 0 }),
      kubectl("diff -f -", {
        stdin: configMap("a", { x: "5", y: "1" }),
        env: { KUBECTL_EXTERNAL_DIFF: "diff -h" },
        want: 1,
        show: ["exitCode"],
      }),
    ),
    kubectlCase(
      "edit sends the edited object",
      [A],
      kubectl("edit configmap a", { env: editing("s/  x: .*/  x: changed/") }),
      kubectl("get configmap a -o jsonpath={.data.x}"),
      kubectl("edit configmap a", { env: { KUBE_EDITOR: "true" } }),
    ),
    kubectlCase(
      "patch of three types",
      [A, create("deployments", deployment("web"))],
      kubectl(["patch", "configmap", "a", "--type=merge", "-p", '{"data":{"y":"2"}}']),
      kubectl(["patch", "configmap", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/x"}]']),
      kubectl([
        "patch",
        "deployment",
        "web",
        "-p",
        '{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/web:2"}]}}}}',
      ]),
      kubectl("get configmap a -o jsonpath={.data}"),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"),
    ),
    kubectlCase(
      "patch without changes, and an invalid patch",
      [A],
      kubectl(["patch", "configmap", "a", "--type=merge", "-p", '{"data":{"x":"1"}}']),
      kubectl(["patch", "configmap", "a", "--type=json", "-p", '[{"op":"remove","path":"/data/none"}]'], { want: 1 }),
      kubectl(["patch", "configmap", "a", "-p", "{"], { want: 1 }),
    ),
    kubectlCase(
      "patch of a status",
      [create("deployments", deployment("web"))],
      kubectl([
        "patch",
        "deployment",
        "web",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"replicas":4}}',
      ]),
      kubectl("get deployment web -o jsonpath={.status.replicas}"),
      kubectl("get deployment web --subresource=status -o jsonpath={.status.replicas}"),
    ),
    kubectlCase(
      "label",
      [A],
      kubectl("label configmap a new=yes"),
      kubectl("label configmap a new=no", { want: 1 }),
      kubectl("label configmap a new=no --overwrite"),
      kubectl("label configmap a new-"),
      kubectl("get configmap a --show-labels"),
      kubectl("label configmap a --list"),
    ),
    kubectlCase(
      "annotate",
      [A],
      kubectl("annotate configmap a note=hello"),
      kubectl("annotate configmap a note-"),
      kubectl("annotate configmap none note=x", { want: 1 }),
    ),
    kubectlCase(
      "scale",
      [create("deployments", deployment("web"))],
      kubectl("scale deployment web --replicas=3"),
      kubectl("scale deployment web --replicas=2 --current-replicas=9", { want: 1 }),
      kubectl("get deployment web -o jsonpath={.spec.replicas}"),
      kubectl("scale deployment none --replicas=1", { want: 1 }),
    ),
    kubectlCase(
      "create configmap, secret, namespace, serviceaccount",
      [],
      kubectl("create configmap made --from-literal=a=b"),
      kubectl("create secret generic hidden --from-literal=a=b"),
      kubectl("create serviceaccount robot"),
      kubectl("create configmap made", { want: 1 }),
      kubectl("create namespace {ns}-2"),
      kubectl("create configmap dry --dry-run=server -o yaml"),
    ),
    kubectlCase(
      "create deployment, service, job, cronjob",
      [],
      kubectl("create deployment web --image=example.test/web:1 --replicas=2 --port=80"),
      kubectl("create service clusterip web --tcp=80:8080"),
      kubectl("create job once --image=example.test/task:1"),
      kubectl("get deployment/web service/web job/once"),
    ),
    kubectlCase(
      "create role, rolebinding, quota, poddisruptionbudget",
      [],
      kubectl("create role reader --verb=get,list --resource=configmaps"),
      kubectl("create rolebinding readers --role=reader --user=alice"),
      kubectl("create quota q --hard=pods=2"),
      kubectl("create poddisruptionbudget b --selector=app=web --min-available=1"),
      kubectl("get role,rolebinding,quota,pdb"),
      kubectl("describe role reader"),
      kubectl("describe rolebinding readers"),
    ),
    kubectlCase(
      "create token",
      [create("serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } })],
      kubectl("create token robot"),
      kubectl("create token none", { want: 1 }),
    ),
    kubectlCase(
      "expose a Deployment",
      [create("deployments", deployment("web"))],
      kubectl("expose deployment web --port=80 --target-port=8080"),
      kubectl("get service web -o jsonpath={.spec.selector}{.spec.ports}"),
      kubectl("expose deployment web --port=80", { want: 1 }),
    ),
    kubectlCase(
      "set image, env and resources",
      [create("deployments", deployment("web"))],
      kubectl("set image deployment/web main=example.test/web:9"),
      kubectl("set env deployment/web A=b"),
      kubectl("set resources deployment web --requests=cpu=100m"),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.containers}"),
      kubectl("set image deployment/web none=x", { want: 1 }),
    ),
    kubectlCase(
      "delete by name, by label, by file, and of a missing object",
      [A, B, create("configmaps", configMap("c", {}, { labels: { l: "2" } }))],
      kubectl("delete configmap a"),
      kubectl("delete configmap a", { want: 1 }),
      kubectl("delete configmap a --ignore-not-found"),
      kubectl("delete configmaps -l l=2"),
      kubectl("delete -f -", { stdin: configMap("b") }),
      kubectl("get configmaps"),
    ),
    kubectlCase(
      "delete without waiting, with a finalizer",
      [create("configmaps", configMap("a", {}, { finalizers: ["example.test/stay"] }))],
      kubectl("delete configmap a --wait=false"),
      kubectl("get configmap a -o jsonpath={.metadata.finalizers}"),
      kubectl("delete configmap a --timeout=1s", { want: 1 }),
    ),
    kubectlCase(
      "delete as a dry run",
      [A],
      kubectl("delete configmap a --dry-run=server"),
      kubectl("get configmap a -o name"),
    ),
    kubectlCase(
      "replace",
      [A],
      kubectl("replace -f -", { stdin: configMap("a", { x: "new" }) }),
      kubectl("replace -f -", { stdin: configMap("none"), want: 1 }),
      kubectl("get configmap a -o jsonpath={.data.x}"),
    ),
    kubectlCase(
      "wait for fields and deletion",
      [A],
      kubectl(["wait", "--for=jsonpath={.data.x}=1", "configmap/a", "--timeout=5s"]),
      kubectl("wait --for=jsonpath={.data.x}=2 configmap/a --timeout=1s", { want: 1 }),
      kubectl("delete configmap a --wait=false"),
      kubectl("wait --for=delete configmap/a --timeout=5s"),
    ),
    kubectlCase(
      "api-resources of a group",
      [],
      kubectl("api-resources --api-group=apps --no-headers -o name"),
      kubectl("api-resources --api-group=batch -o wide"),
      kubectl("api-resources --api-group=none.test"),
    ),
    kubectlCase(
      "api-resources and api-versions of a custom kind",
      installDefinition(
        thingDefinition(
          ANY_OBJECT,
          {},
          { names: { plural: "things", singular: "thing", kind: "Thing", shortNames: ["x{ns}"], categories: ["all"] } },
        ),
      ),
      kubectl("api-resources --api-group={ns}.test --cached=false"),
      kubectl("get x{ns}"),
      kubectl("get things.v1.{ns}.test"),
    ),
    kubectlCase(
      "explain",
      [],
      kubectl("explain deployment.spec.replicas"),
      kubectl("explain pod.spec.containers.frob", { want: 1 }),
      kubectl("explain configmap.data"),
    ),
    kubectlCase(
      "explain of a custom kind",
      [
        ...installDefinition(
          thingDefinition({
            type: "object",
            description: "desired state",
            required: ["n"],
            properties: {
              n: { type: "integer", description: "how many" },
              l: { type: "array", items: { type: "string" } },
            },
          }),
        ),
        // The real server lists a new kind shortly after it serves it, and publishes its schema later still.
        waitFor("/apis", { groups: [{ name: "{ns}.test" }] }),
        waitFor("/openapi/v3", { paths: { "apis/{ns}.test/v1": {} } }),
      ],
      kubectl("explain things --api-version={ns}.test/v1", OWN_CACHE),
      kubectl("explain things.spec --api-version={ns}.test/v1", OWN_CACHE),
      kubectl("explain things.spec.n --api-version={ns}.test/v1", OWN_CACHE),
      kubectl("explain things --recursive --api-version={ns}.test/v1", OWN_CACHE),
    ),
    kubectlCase(
      "auth can-i",
      [],
      kubectl("auth can-i create pods"),
      kubectl("auth can-i create pods", { as: "alice", want: 1 }),
      kubectl("auth can-i get /version", { as: "alice" }),
    ),
    kubectlCase(
      "auth whoami",
      [],
      kubectl("auth whoami", { as: "bob" }),
      kubectl("auth whoami -o json", { as: "bob", show: ["stdout.status.userInfo.username"] }),
    ),
    kubectlCase(
      "a user without permissions is rejected",
      [A],
      kubectl("get configmaps", { as: "alice", want: 1 }),
      kubectl("delete configmap a", { as: "alice", want: 1 }),
      kubectl("create deployment web --image=x", { as: "alice", want: 1 }),
      kubectl("get nodes", { as: "alice", want: 1 }),
    ),
    kubectlCase("top fails without metrics", [], kubectl("top pods", { want: 1 }), kubectl("top nodes", { want: 1 })),
    kubectlCase(
      "columns and pages of a custom kind",
      [
        ...installDefinition(
          thingDefinition(ANY_OBJECT, {
            ...schemaOf({ type: "object", properties: { n: { type: "integer" } } }),
            additionalPrinterColumns: [{ name: "N", type: "integer", jsonPath: ".spec.n" }],
          }),
        ),
        create("things", thing("a", { n: 1 })),
        create("things", thing("b", { n: 2 })),
      ],
      kubectl("get things.{ns}.test"),
      kubectl("get things.{ns}.test --chunk-size=1"),
      kubectl("get things.{ns}.test a -o yaml"),
    ),
    kubectlCase(
      "a custom object is applied and edited",
      installDefinition(thingDefinition({ type: "object", properties: { n: { type: "integer", maximum: 5 } } })),
      kubectl("apply -f -", { stdin: thing("a", { n: 1 }) }),
      kubectl("apply -f -", { stdin: thing("a", { n: 2 }) }),
      kubectl("apply -f -", { stdin: thing("a", { n: 9 }), want: 1 }),
      kubectl("apply -f -", { stdin: thing("a", { n: 1, more: 1 }), want: 1 }),
      kubectl("edit things.{ns}.test a", { env: editing("s/  n: 2/  n: 3/") }),
      kubectl("get things.{ns}.test a -o jsonpath={.spec.n}"),
    ),
    kubectlCase(
      "kustomize, run and raw",
      [],
      kubectl("run p --image=example.test/web:1"),
      kubectl("get pod p -o jsonpath={.spec.containers[*].name}"),
      kubectl("get --raw /api/v1/namespaces/{ns}/configmaps", { show: ["exitCode"] }),
      kubectl("get --raw /nothing", { want: 1 }),
    ),
    kubectlCase(
      "taint and cordon a node",
      [create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "{ns}" } })],
      kubectl("cordon {ns}"),
      kubectl("get node {ns} -o jsonpath={.spec.unschedulable}"),
      kubectl("uncordon {ns}"),
      kubectl("taint node {ns} a=b:NoSchedule"),
      kubectl("get node {ns} -o jsonpath={.spec.taints}"),
    ),
    kubectlCase(
      "drain a node",
      [
        create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name: "{ns}" } }),
        create("pods", pod("p", { nodeName: "{ns}" })),
      ],
      kubectl("drain {ns} --timeout=2s", { want: 1, show: ["exitCode"] }),
      kubectl("get node {ns} -o jsonpath={.spec.unschedulable}"),
    ),
  ],
};

export const kubectlWorkloads: Subject = {
  subject: "kubectl workloads",
  needs: "controllers",
  cases: [
    kubectlCase(
      "get Deployments, ReplicaSets and Pods",
      WEB,
      kubectl("get deployments"),
      kubectl("get deployment web -o wide"),
      kubectl("get pods -l app=web -o custom-columns=PHASE:.status.phase"),
    ),
    kubectlCase("describe a Deployment", WEB, kubectl("describe deployment web", { show: ["exitCode"] })),
    kubectlCase(
      "rollout status and history",
      WEB,
      kubectl("rollout status deployment/web --timeout=30s"),
      kubectl("rollout history deployment/web"),
      kubectl("rollout history deployment/web --revision=1", { show: ["exitCode"] }),
    ),
    kubectlCase(
      "rollout restart",
      WEB,
      kubectl("rollout restart deployment/web"),
      kubectl("rollout status deployment/web --timeout=30s", { show: ["exitCode"] }),
      kubectl("rollout history deployment/web"),
    ),
    kubectlCase(
      "rollout undo",
      WEB,
      kubectl("set image deployment/web main=example.test/web:2"),
      kubectl("rollout status deployment/web --timeout=30s", { show: ["exitCode"] }),
      kubectl("rollout undo deployment/web"),
      kubectl("rollout status deployment/web --timeout=30s", { show: ["exitCode"] }),
      kubectl("get deployment web -o jsonpath={.spec.template.spec.containers[*].image}"),
      kubectl("rollout history deployment/web"),
    ),
    kubectlCase(
      "rollout pause and resume",
      WEB,
      kubectl("rollout pause deployment/web"),
      kubectl("rollout pause deployment/web", { want: 1 }),
      kubectl("rollout resume deployment/web"),
    ),
    kubectlCase(
      "rollout status of a failing Deployment",
      [create("deployments", deployment("web", { progressDeadlineSeconds: 1 }, { image: "example.test/web:missing" }))],
      kubectl("rollout status deployment/web --timeout=20s", { want: 1, show: ["exitCode", "stderr"] }),
    ),
    kubectlCase(
      "wait for a condition",
      [create("deployments", deployment("web"))],
      kubectl("wait --for=condition=Available deployment/web --timeout=30s"),
      kubectl("wait --for=condition=Nonsense deployment/web --timeout=1s", { want: 1 }),
    ),
    kubectlCase(
      "delete in the foreground, in the background and as orphans",
      WEB,
      kubectl("delete deployment web --cascade=foreground"),
      kubectl("get replicasets"),
      kubectl("create deployment two --image=example.test/web:1"),
      kubectl("wait --for=condition=Available deployment/two --timeout=30s"),
      kubectl("delete deployment two --cascade=orphan"),
      kubectl("get replicasets -o custom-columns=DESIRED:.spec.replicas"),
    ),
    kubectlCase(
      "events of a Deployment",
      WEB,
      kubectl("events --for deployment/web", { show: ["exitCode"] }),
      kubectl(
        "get events --field-selector involvedObject.kind=Deployment -o custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message",
      ),
    ),
    kubectlCase(
      "autoscale",
      WEB,
      kubectl("autoscale deployment web --min=2 --max=5 --cpu=50%"),
      kubectl("get hpa web -o jsonpath={.spec}"),
    ),
    kubectlCase(
      "a StatefulSet and its rollout",
      [create("statefulsets", { ...deployment("db", { serviceName: "db" }), kind: "StatefulSet" })],
      kubectl("rollout status statefulset/db --timeout=30s", { show: ["exitCode"] }),
      kubectl("get statefulset db"),
      kubectl("get pod db-0 -o jsonpath={.status.phase}"),
    ),
    kubectlCase(
      "wait for a Job",
      [],
      kubectl("create job once --image=example.test/task:1"),
      kubectl("wait --for=condition=Complete job/once --timeout=30s"),
      kubectl("get jobs once -o jsonpath={.status.succeeded}"),
    ),
    {
      name: "delete of a namespace",
      given: [create("namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "{ns}-gone" } })],
      steps: [kubectl("delete namespace {ns}-gone --timeout=50s"), waitUntilGone("namespaces/{ns}-gone")],
    },
  ],
};
