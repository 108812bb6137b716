/** A mistake of a new user, what is printed, and the fix. The troubleshooting page lists them; a test makes each one. */
export interface Mistake {
  /** What the user writes or types, as shown on the page. */
  readonly input: string;
  /** The content of `demo.yaml`, if the mistake is in a file. */
  readonly file?: string;
  /** The command; by default `oaas apply -f demo.yaml`. */
  readonly run?: string;
  /** The address of the package manager, if it is wrong. */
  readonly address?: string;
  /** The decisive line of the output; `…` stands for any text. */
  readonly prints: string;
  readonly fix: string;
  readonly exitCode: number;
}

export const GOOD_PACKAGE = `name: demo
version: 1.0.0
classes:
  - key: Cart
    function_bindings:
      - name: add
        function_key: Cart.add
functions:
  - key: Cart.add
    provision_config:
      container_image: example.test/add:1.0.0
`;
export const GOOD_DEPLOYMENT = `key: demo
package_name: demo
class_key: Cart
target_clusters: [edge]
`;

/** Addresses on the page. The test replaces them by those of the stack that it starts. */
export const PAGE_ADDRESSES = {
  packageManager: "127.0.0.1:8080",
  statusPage: "127.0.0.1:8081",
  apiServer: "127.0.0.1:8082",
  webSite: "127.0.0.1:8000",
  nothing: "127.0.0.1:9",
} as const;

function inPackage(from: string, to: string): string {
  return replaced(GOOD_PACKAGE, from, to);
}

function inDeployment(from: string, to: string): string {
  return replaced(GOOD_DEPLOYMENT, from, to);
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the document does not contain ${from}`);
  return text.replace(from, to);
}

const required = (line: string): string => `${GOOD_DEPLOYMENT}nfr_requirements:\n  ${line}\n`;

const YAML: readonly Mistake[] = [
  {
    input: "a line indented with a tab",
    file: inPackage("  - key: Cart\n", "\t- key: Cart\n"),
    prints: "demo.yaml:4:1: not valid YAML: the line is indented with a tab; indent with spaces",
    fix: "indent with spaces",
    exitCode: 2,
  },
  {
    input: "`version:` twice",
    file: inPackage("version: 1.0.0\n", "version: 1.0.0\nversion: 2.0.0\n"),
    prints:
      'demo.yaml:3:1: not valid YAML: the key "version" is repeated (first at line 2, column 1); remove or rename one of them',
    fix: "remove one of the two lines",
    exitCode: 2,
  },
  {
    input: "`function_bindings:` one space to the left",
    file: inPackage("    function_bindings:", "   function_bindings:"),
    prints:
      "demo.yaml:5:… not valid YAML: the line is not indented like the other lines of its list or map; use the same number of spaces as for its neighbours",
    fix: "align the line with `key:`",
    exitCode: 2,
  },
  {
    input: "`name:demo`",
    file: inPackage("name: demo", "name:demo"),
    prints:
      "demo.yaml:1:1: not valid YAML: the line has no colon after its key; write key: value, with a space after the colon",
    fix: "`name: demo`",
    exitCode: 2,
  },
  {
    input: "`target_clusters: [edge`",
    file: inDeployment("[edge]", "[edge"),
    prints: "demo.yaml:5:1: not valid YAML: a list [ ] or map { } does not end; add the closing bracket",
    fix: "`target_clusters: [edge]`",
    exitCode: 2,
  },
  {
    input: "an empty file",
    file: "# nothing yet\n",
    prints: "error: no documents in demo.yaml",
    fix: "write a package or a deployment into it",
    exitCode: 2,
  },
  {
    input: "the same deployment twice in a file",
    file: `${GOOD_DEPLOYMENT}---\n${GOOD_DEPLOYMENT}`,
    prints: "error: deployment demo is defined twice: demo.yaml:1:1 and demo.yaml:6:1",
    fix: "remove one of the two",
    exitCode: 2,
  },
  {
    input: "a Kubernetes manifest",
    file: "apiVersion: v1\nkind: Pod\nmetadata: { name: demo }\n",
    prints: "demo.yaml:1:1: this is a Kubernetes object: apply it with kubectl apply",
    fix: "`kubectl apply -f demo.yaml`",
    exitCode: 2,
  },
];

const FIELDS: readonly Mistake[] = [
  {
    input: "`availability: 99.9%`",
    file: required("availability: 99.9%"),
    prints: 'demo.yaml:6:17 $.nfr_requirements.availability: "99.9%" is not a number; write 0.999',
    fix: "`availability: 0.999`",
    exitCode: 2,
  },
  {
    input: "`availability: 99.9`",
    file: required("availability: 99.9"),
    prints:
      "demo.yaml:6:17 $.nfr_requirements.availability: 99.9 is out of range; use at most 1: for 99.9 % write 0.999",
    fix: "`availability: 0.999`",
    exitCode: 2,
  },
  {
    input: "`max_latency_ms: 100ms`",
    file: required("max_latency_ms: 100ms"),
    prints: 'demo.yaml:6:19 $.nfr_requirements.max_latency_ms: "100ms" is not a number; write 100',
    fix: "`max_latency_ms: 100`",
    exitCode: 2,
  },
  {
    input: '`min_throughput_rps: "50"`',
    file: required('min_throughput_rps: "50"'),
    prints: 'demo.yaml:6:23 $.nfr_requirements.min_throughput_rps: "50" is not a number; write 50 without quotes',
    fix: "`min_throughput_rps: 50`",
    exitCode: 2,
  },
  {
    input: "`clas_key: Cart`",
    file: inDeployment("class_key", "clas_key"),
    prints: "demo.yaml:3:11 $.clas_key: unknown field; did you mean class_key?",
    fix: "`class_key: Cart`",
    exitCode: 2,
  },
  {
    input: "`access_modifier: public`",
    file: inPackage("function_key: Cart.add", "function_key: Cart.add\n        access_modifier: public"),
    prints: '… "public" is not an allowed value; use PUBLIC, INTERNAL or PRIVATE',
    fix: "`access_modifier: PUBLIC`, or omit it",
    exitCode: 2,
  },
  {
    input: "`container_image: Example Add`",
    file: inPackage("example.test/add:1.0.0", "Example Add"),
    prints: 'demo.yaml:11:24 … "Example Add" is not a container image reference; use registry/name:tag …',
    fix: "a reference such as `example.test/add:1.0.0`",
    exitCode: 2,
  },
  {
    input: "`memory_limit: 1Gi` below `memory_request: 2Gi`",
    file: `${GOOD_PACKAGE}      memory_request: 2Gi\n      memory_limit: 1Gi\n`,
    prints:
      "demo.yaml:13:21 … 1Gi is below memory_request (2Gi); raise memory_limit to at least 2Gi or lower memory_request",
    fix: "`memory_limit: 2Gi`",
    exitCode: 2,
  },
];

const NAMES: readonly Mistake[] = [
  {
    input: "`function_key: Cart.ad` in a binding",
    file: inPackage("function_key: Cart.add", "function_key: Cart.ad"),
    prints: 'demo.yaml:7:23 … the package has no function "Cart.ad"; use "Cart.add", or add the function',
    fix: "`function_key: Cart.add`",
    exitCode: 1,
  },
  {
    input: "`class_key: Crt`",
    file: inDeployment("class_key: Cart", "class_key: Crt"),
    prints: "demo.yaml:3:12 $.class_key: package demo has no class Crt; …Cart…",
    fix: "`class_key: Cart`",
    exitCode: 1,
  },
  {
    input: "`package_name: dem`",
    file: inDeployment("package_name: demo", "package_name: dem"),
    prints: "demo.yaml:2:15 $.package_name: package does not exist; apply it first, or use another package",
    fix: "apply the package first, or use its name",
    exitCode: 3,
  },
  {
    input: "`target_clusters: [edgy]`",
    file: inDeployment("[edge]", "[edgy]"),
    prints: "demo.yaml:4:19 $.target_clusters[0]: edgy is not a known cluster; …edge…",
    fix: "`target_clusters: [edge]`",
    exitCode: 1,
  },
  {
    input: "`oaas deployment status dmo`",
    run: "oaas deployment status dmo",
    prints: "hint: did you mean demo?",
    fix: "`oaas deployment status demo`",
    exitCode: 3,
  },
  {
    input: "`oaas package delete demo --yes`",
    run: "oaas package delete demo --yes",
    prints: 'error: package "demo" has a deployment: "demo". Delete it first, or delete with cascade=true',
    fix: "`oaas package delete demo --cascade --yes`",
    exitCode: 1,
  },
];

const COMMANDS: readonly Mistake[] = [
  {
    input: "`oaas` with the command `pakage`",
    run: "oaas pakage list",
    prints: 'error: unknown command "pakage"; did you mean package…',
    fix: "`oaas package list`",
    exitCode: 2,
  },
  {
    input: "`oaas apply -f missing.yaml`",
    run: "oaas apply -f missing.yaml",
    prints: "error: file missing.yaml does not exist",
    fix: "check the path",
    exitCode: 2,
  },
  {
    input: "`oaas plan -f demo.yaml --availability 99.9%`",
    file: GOOD_DEPLOYMENT,
    run: "oaas plan -f demo.yaml --availability 99.9%",
    prints: 'error: availability: "99.9%" is not a fraction between 0 and 1: for 99.9 % write 0.999',
    fix: "`--availability 0.999`",
    exitCode: 2,
  },
  {
    input: "`oaas deployment rollback demo` without a terminal",
    run: "oaas deployment rollback demo",
    prints: "hint: repeat the command with --to 1, or with --yes for the previous revision",
    fix: "`oaas deployment rollback demo --yes`",
    exitCode: 2,
  },
  {
    input: "`oaas deployment delete demo` in a script",
    run: "oaas deployment delete demo",
    prints:
      'error: "Delete deployment demo from all clusters" needs confirmation, and standard input is not a terminal',
    fix: "`oaas deployment delete demo --yes`",
    exitCode: 2,
  },
  {
    input: "`oaas package list -o jsn`",
    run: "oaas package list -o jsn",
    prints: "hint: use one of table, wide, json, yaml, name, …",
    fix: "`oaas package list -o json`",
    exitCode: 2,
  },
  {
    input: "`container_image: example.test/add:missing`, applied with `--wait`",
    file: `${inPackage("add:1.0.0", "add:missing").replaceAll("demo", "broken")}---\n${GOOD_DEPLOYMENT.replaceAll("demo", "broken")}`,
    run: "oaas apply -f demo.yaml --wait",
    prints:
      "error: deployment/broken is not running: Function Cart.add: the registry has no image example.test/add:missing. Waiting will not help: fix the name or tag of the image and apply again.",
    fix: "correct the tag and apply again",
    exitCode: 1,
  },
];

const ADDRESSES: readonly Mistake[] = [
  {
    input: "nothing listens at the address",
    run: "oaas package list",
    address: `http://${PAGE_ADDRESSES.nothing}`,
    prints: "hint: cannot connect to http://127.0.0.1:9 (OAAS_PM_URL); start the local stack (npm start), …",
    fix: "start it, or correct the address",
    exitCode: 6,
  },
  {
    input: "`https://` instead of `http://`",
    run: "oaas package list",
    address: `https://${PAGE_ADDRESSES.packageManager}`,
    prints: "hint: https://127.0.0.1:8080 (OAAS_PM_URL) does not speak TLS; is its address http://?",
    fix: "`http://127.0.0.1:8080`",
    exitCode: 6,
  },
  {
    input: "the address of the status page",
    run: "oaas package list",
    address: `http://${PAGE_ADDRESSES.statusPage}`,
    prints: "hint: this is the status page of a local stack; the address of its package manager is in oaas status",
    fix: "`oaas status` shows the address",
    exitCode: 3,
  },
  {
    input: "the address of a Kubernetes API server",
    run: "oaas package list",
    address: `http://${PAGE_ADDRESSES.apiServer}`,
    prints: "error: http://127.0.0.1:8082 is not a package manager: it is a Kubernetes API server",
    fix: "`oaas status` shows the address",
    exitCode: 1,
  },
  {
    input: "the address of a web site",
    run: "oaas package list",
    address: `http://${PAGE_ADDRESSES.webSite}`,
    prints: 'error: http://127.0.0.1:8000 is not a package manager: it answers with a web page ("Welcome")',
    fix: "correct the address",
    exitCode: 1,
  },
  {
    input: "an address without `http://`",
    run: "oaas package list",
    address: PAGE_ADDRESSES.packageManager,
    prints: 'error: OAAS_PM_URL: "127.0.0.1:8080" is not an http or https URL',
    fix: "`http://127.0.0.1:8080`",
    exitCode: 2,
  },
  {
    input: "`npm start` while the port is in use",
    run: "npm start -- --server-port=8080 --no-cluster",
    prints: "127.0.0.1:8080 is in use by process …. Stop it, or use free ports: npm start -- --ports=…",
    fix: "the command in the message",
    exitCode: 1,
  },
];

export const MISTAKES: readonly Mistake[] = [...YAML, ...FIELDS, ...NAMES, ...COMMANDS, ...ADDRESSES];
