import { stringify } from "yaml";

/** The choices behind a new package and its deployment. */
export interface NewClass {
  readonly packageName: string;
  readonly className: string;
  readonly functions: readonly { readonly name: string; readonly image: string }[];
  /** A consistency model; undefined for a class without state. */
  readonly consistency?: string;
  /** Empty: the planner chooses. */
  readonly clusters: readonly string[];
  readonly availability?: number;
}

/** The package and the deployment as the package manager receives them, to validate them. */
export function newContents(choices: NewClass): { readonly package: object; readonly deployment: object } {
  const { packageName, className, functions, consistency, clusters, availability } = choices;
  return {
    package: {
      name: packageName,
      version: "1.0.0",
      classes: [
        {
          key: className,
          ...(consistency === undefined ? {} : { state_spec: { consistency_model: consistency } }),
          function_bindings: functions.map(({ name }) => ({
            name,
            function_key: `${className}.${name}`,
            access_modifier: "PUBLIC",
          })),
        },
      ],
      functions: functions.map(({ name, image }) => ({
        key: `${className}.${name}`,
        provision_config: { container_image: image },
      })),
    },
    deployment: {
      key: packageName,
      package_name: packageName,
      class_key: className,
      ...(clusters.length === 0 ? {} : { target_clusters: clusters }),
      ...(availability === undefined ? {} : { nfr_requirements: { availability } }),
    },
  };
}

/** A value as one line of YAML; quoted if it would be read as a number or the like. */
function scalar(value: unknown): string {
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

/** The text of a new package, with a comment for every part. */
export function packageText({ packageName, className, functions, consistency }: NewClass): string {
  const state =
    consistency === undefined
      ? `    # The objects of this class have no state. With a state store:
    # state_spec:
    #   consistency_model: READ_YOUR_WRITE
`
      : `    # The state of the objects of the class. Without this field the class has no state store.
    state_spec:
      # NONE, READ_YOUR_WRITE, BOUNDED_STALENESS or STRONG (which needs at least three replicas).
      consistency_model: ${consistency}
      # Keep the state on persistent volumes.
      # persistent: true
`;
  return `# A package: classes, and the functions they use. All fields: oaas explain package
name: ${scalar(packageName)}
version: 1.0.0
classes:
  # A class: functions that share state. All fields: oaas explain class
  - key: ${scalar(className)}
${state}    # The methods of the class: the name that callers use, and the function behind it.
    function_bindings:
${functions.map(({ name }) => bindingText(className, name)).join("")}functions:
${functions.map((each, index) => functionText(className, each, index === 0)).join("")}`;
}

function bindingText(className: string, name: string): string {
  return `      - name: ${scalar(name)}
        function_key: ${scalar(`${className}.${name}`)}
        access_modifier: PUBLIC
`;
}

function functionText(className: string, { name, image }: NewClass["functions"][number], isFirst: boolean): string {
  const head = isFirst
    ? "  # A function: a container image and how it scales. All fields: oaas explain function\n"
    : "";
  const options = isFirst
    ? `      # Resources of one replica, and the number of replicas.
      # cpu_request: 50m
      # memory_request: 64Mi
      # min_scale: 1
      # max_scale: 5
    # Environment variables of the container.
    # config:
    #   GREETING: hello
`
    : "";
  return `${head}  - key: ${scalar(`${className}.${name}`)}
    provision_config:
      container_image: ${scalar(image)}
${options}`;
}

/** The text of a new deployment, with a comment for every part. */
export function deploymentText({ packageName, className, clusters, availability }: NewClass): string {
  const where =
    clusters.length === 0
      ? `# The planner chooses the clusters. To choose them yourself (see oaas get clusters):
# target_clusters: [edge]
`
      : `# The clusters to use (see oaas get clusters). Without this field the planner chooses them.
target_clusters:
${clusters.map((name) => `  - ${scalar(name)}\n`).join("")}`;
  const requirements =
    availability === undefined
      ? `# Requirements that the planner and the platform keep.
# nfr_requirements:
#   availability: 0.99
#   min_throughput_rps: 10
#   max_latency_ms: 100
`
      : `# Requirements that the planner and the platform keep.
nfr_requirements:
  # The share of time in which a quorum of replicas is available.
  availability: ${availability}
  # min_throughput_rps: 10
  # max_latency_ms: 100
`;
  return `# A deployment: where a class runs, and its requirements. All fields: oaas explain deployment
key: ${scalar(packageName)}
package_name: ${scalar(packageName)}
class_key: ${scalar(className)}
${where}${requirements}`;
}
