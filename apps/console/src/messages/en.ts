import { ApiError } from "../api/errors.ts";

/** "in_progress" and "RUNNING" as words. */
function words(name: string): string {
  const spaced = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]/g, " ")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

function plural(value: number, one: string, many = `${one}s`): string {
  return `${value} ${value === 1 ? one : many}`;
}

interface Described {
  readonly title: string;
  readonly text: string;
}

/** What an error means for a user, by status. The server's own text says what is wrong; this says what to do. */
function describe(error: unknown): Described {
  if (!(error instanceof ApiError))
    return { title: "This part of the console failed", text: error instanceof Error ? error.message : String(error) };
  const { status, message, problem, retryAfterSeconds } = error;
  const detail = problem.detail ?? problem.title ?? "";
  switch (status) {
    case 0:
      return { title: "No connection", text: `${message} The page is shown again when it responds.` };
    case 401:
      return { title: "Signed out", text: detail || "The session has ended. Sign in again." };
    case 403:
      return {
        title: "Not allowed",
        text: detail || "Your role does not allow this. Ask an administrator for a higher role.",
      };
    case 404:
      return { title: "Not found", text: detail || "It does not exist, or it was deleted." };
    case 409:
    case 412:
      return {
        title: "Changed meanwhile",
        text: detail || "Someone else was faster. Load it again and repeat your change.",
      };
    case 429:
      return {
        title: "Too many requests",
        text: `Wait ${retryAfterSeconds === undefined ? "a moment" : plural(retryAfterSeconds, "second")} and try again.`,
      };
    case 503:
    case 504:
      return { title: "Temporarily unavailable", text: detail || "The package manager cannot answer now. Try again." };
    default:
      return status >= 500
        ? { title: "The package manager failed", text: detail || `It answered with the status ${status}.` }
        : { title: "Rejected", text: detail || `The status is ${status}.` };
  }
}

const STATES: Readonly<Record<string, string>> = {
  met: "Met",
  violated: "Missed",
  "not measured": "Not measured",
  True: "Yes",
  False: "No",
  CrashLoop: "Crash loop",
};

const OPERATIONS: Readonly<Record<string, string>> = {
  deploy: "Deploy",
  delete: "Delete",
  roll_back: "Roll back",
  repair: "Repair",
};

const SIGNALS: Readonly<Record<string, string>> = {
  requests_per_second: "requests",
  latency_p95_ms: "latency (p95)",
  latency_p99_ms: "latency (p99)",
  error_ratio: "failed requests",
  cpu_millicores: "CPU",
  memory_bytes: "memory",
  ready_replicas: "ready replicas",
};

const REQUIREMENTS: Readonly<Record<string, string>> = {
  availability: "availability",
  throughput: "throughput",
  min_throughput_rps: "throughput",
  latency: "latency",
  max_latency_ms: "latency (p99)",
};

/** A missed requirement, with its measurement and target as text. */
interface MissedText {
  readonly name: string;
  readonly cluster: string;
  readonly observed: string | undefined;
  readonly required: string;
}

/** Every text of the console. Another language is another object of this shape. */
export const m = {
  app: { name: "OaaS console", noPage: "Page not found" },
  nav: {
    main: "Main",
    skip: "Skip to the content",
    openMenu: "Open the menu",
    closeMenu: "Close the menu",
    overview: "Overview",
    deployments: "Deployments",
    plan: "Plan",
    packages: "Packages",
    runtimes: "Class runtimes",
    clusters: "Clusters",
    topology: "Topology",
    activity: "Activity",
    lab: "Lab",
  },
  common: {
    loading: "Loading",
    retry: "Try again",
    cancel: "Cancel",
    close: "Close",
    clear: "Clear",
    copy: "Copy",
    more: "More",
    sections: "Sections",
    breadcrumbs: "Breadcrumbs",
    showAll: "Show all",
    reason: "Reason (kept in the history)",
    typeName: "Type the name to confirm:",
    copyAs: "Copy as",
    copied: (text: string) => `Copied: ${text}`,
    copyFailed: (text: string) => `The browser does not allow copying. The command is: ${text}`,
    any: (what: string) => `${what}: any`,
    total: (total: string) => `${total} in total`,
    noMatch: "Nothing matches the filters",
    clearFilters: "Clear the filters",
    removeFilter: (name: string, value: string) => `${name}: ${value} ✕`,
    noChanges: "No differences.",
    rollBack: "Roll back",
    yesNo: (value: boolean) => (value ? "Yes" : "No"),
  },
  terms: {
    deployment: "Deployment",
    condition: "Condition",
    class: "Class",
    cluster: "Cluster",
    clusters: "Clusters",
    target_cluster: "Cluster",
    package_name: "Package",
    function: "Function",
    functions: "Functions",
    replicas: "Replicas",
    plannedAvailability: "Planned",
    created: "created",
    updated: "Updated",
    state: "State",
    operation: "Operation",
    progress: "Progress",
    object: "Object",
    author: "By",
    reason: "Reason",
    time: "Time",
    revision: "Revision",
    revisionOf: (kind: string, revision: number) => `${kind.toLowerCase()} revision ${revision}`,
    actions: "Actions",
    message: "Message",
    requirement: "Requirement",
    topic: "Topic",
    event: "Event",
  },
  states: (state: string) => STATES[state] ?? words(state),
  operationKinds: (kind: string) => OPERATIONS[kind] ?? words(kind),
  signals: (name: string) => SIGNALS[name] ?? words(name).toLowerCase(),
  requirements: (name: string) => REQUIREMENTS[name] ?? words(name).toLowerCase(),
  verdicts: { healthy: "Healthy", transient: "Resolves by itself", permanent: "Needs action" } as Readonly<
    Record<string, string>
  >,
  changeKinds: { added: "Added", removed: "Removed", changed: "Changed" },
  skips: (skip: string) => words(skip),
  errors: {
    describe,
    correlation: "Correlation id:",
    reload: "Load the console again",
  },
  connection: {
    lost: "The connection to the package manager is lost.",
    since: (time: string) => `This page shows the state of ${time}. The console reconnects by itself.`,
    retry: "Reconnect now",
  },
  theme: {
    label: (theme: "system" | "light" | "dark") =>
      ({ system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" })[theme],
  },
  help: {
    title: "Keyboard shortcuts",
    palette: "Go to any page or object",
    filter: "Filter the list",
    escape: "Close a dialog",
  },
  palette: {
    title: "Command palette",
    hint: "Go to…",
    kinds: { page: "Page", deployment: "Deployment", package: "Package", cluster: "Cluster", action: "Action" },
    searchDeployments: (text: string) => `Deployments that contain “${text}”`,
  },
  session: {
    title: "Sign in to OaaS",
    token: "Token",
    tokenHint: "The token is exchanged for a session cookie. The console does not store it.",
    signIn: "Sign in",
    signOut: "Sign out",
    oidc: "Sign in with single sign-on",
    off: "Without sign-in",
    certificateOnly:
      "This server accepts only client certificates. Choose one in your browser and load the page again.",
    oidcError: (code: string) =>
      ({
        denied: "The sign-in was denied.",
        expired: "The sign-in took too long. Try again.",
        rejected: "The answer of the identity provider is not valid.",
        no_role: "Your account has no role here. Ask an administrator.",
        unavailable: "The identity provider does not respond. Try again later.",
        rate_limited: "Too many attempts. Wait a minute and try again.",
      })[code] ?? "The sign-in failed. Try again.",
  },
  overview: {
    nothing: "Nothing is registered yet",
    nothingText: "Register a package with a class and its functions, then plan its first deployment.",
    operations: (running: number) => (running === 0 ? "Operations" : `Operations (${running} under way)`),
    noOperations: "No operation is under way, and none has failed",
    changes: "Recent changes",
    noChanges: "No changes yet",
    violated: (total: number) => `${plural(total, "requirement is", "requirements are")} missed`,
    missed: ({ name, cluster, observed, required }: MissedText) =>
      `${name} in ${cluster}: ${observed ?? "not measured"}, required ${required}`,
    clusterHealth: "Clusters",
  },
  deployments: {
    create: "New deployment",
    filter: "Filter by name",
    none: "No deployments yet",
    noneText:
      "A deployment runs a class in one or more clusters. The planner selects clusters and replicas and explains why.",
  },
  deployment: {
    tabs: { progress: "Progress", why: "Why", revisions: "Revisions", events: "Events", logs: "Logs" },
    classOf: "Class",
    rollout: "Roll-out",
    serving: "Clusters that serve",
    upToDate: "Up to date",
    steps: "Steps",
    outcome: "Outcome",
    promise: "Planned availability",
    noPlan: "No plan is in force.",
    noClusters: "It runs in no cluster",
    unreachable: "Cluster unreachable",
    unit: "Unit",
    reported: "Reported",
    requirements: "Requirements",
    use: "Use",
    measurements: "Measured",
    paused: (by: string) => `Paused by ${by}`,
    pausedUntil: "Ends",
    replan: {
      proposed: "A better plan is proposed",
      waiting: "A new plan may be needed soon",
      blocked: "A new plan cannot be applied now",
    } as Readonly<Record<string, string>>,
    applyReplan: "Apply the new plan",
    pause: "Pause",
    resume: "Resume",
    resumed: (key: string) => `${key} was resumed`,
    pauseTitle: (key: string) => `Pause ${key}?`,
    pauseText:
      "Until the pause ends, nothing changes its clusters: no update, repair or new plan. What runs keeps running.",
    pauseFor: "For how long",
    hours: (value: number) => plural(value, "hour"),
    days: (value: number) => plural(value, "day"),
    change: "Change",
    cancel: "Cancel operation",
    cancelTitle: (key: string) => `Cancel the running operation of ${key}?`,
    cancelText: "Clusters that were not reached yet keep their state. Changes that a cluster has accepted stay.",
    delete: "Delete",
    deleteTitle: (key: string) => `Delete ${key}?`,
    deleteText: "This removes the class, its functions and its stored objects:",
    deleteUnit: (unit: string, cluster: string) => `${unit} in ${cluster}`,
    deleted: (key: string) => `${key} is being deleted`,
    showHealthy: "Also show what is healthy",
    copyKubectl: "Copy as kubectl",
    rollBackText: "The desired state of that revision becomes a new revision and is rolled out with a new plan.",
    logs: {
      label: "Output of the functions",
      contains: "Lines that contain",
      pause: "Pause",
      follow: "Follow",
      lost: "The connection is interrupted; the newest lines may be missing.",
      none: "No output yet",
      noneText: "New lines appear here as the functions write them.",
    },
  },
  revisions: {
    title: "Revisions",
    current: "current",
    changesFrom: (from: number, to: number) => `From revision ${from} to ${to}`,
    rollBackTitle: (key: string, revision: number) => `Roll ${key} back to revision ${revision}?`,
    rolledBack: (key: string, revision: number) => `${key} is rolled back to revision ${revision}`,
  },
  plan: {
    titleNew: "Plan a deployment",
    titleOf: (key: string) => `Plan ${key}`,
    deployment: "Deployment",
    view: "View",
    form: "Form",
    yaml: "YAML",
    choose: "Choose…",
    key: "Name",
    keyHint: "Unique in this platform.",
    availability: "Availability (%)",
    throughput: "Throughput (req/s)",
    latency: "Latency p99 (ms)",
    replan: "On a better plan",
    replanDefault: "Default",
    replanModes: { auto: "Apply it", propose: "Propose it", off: "Ignore it" },
    targets: "Clusters",
    targetsHint: "None selected: the planner chooses.",
    bestEffort: "Accept the best plan when the target is out of reach",
    incomplete: "Choose a package, a class and a name",
    incompleteText: "The plan appears here and follows your changes. Nothing is applied before you say so.",
    whatIf: "What if",
    reset: "Reset",
    clustersDown: "These clusters are down",
    target: "Availability target",
    load: "Load",
    rate: (value: number) => `${value} req/s`,
    assumed: "This plan uses assumptions. Reset them to apply a plan.",
    apply: "Apply this plan",
    applyTitle: (key: string) => `Apply this plan to ${key}?`,
    applyText:
      "Exactly this plan is applied. If clusters or packages have changed since, the server rejects it and you see a new plan.",
    applied: (key: string) => `The plan of ${key} is applied`,
    outdated: {
      title: "Nothing was applied: the plan that you saw is outdated",
      theirs: "Someone else has changed the deployment meanwhile:",
      yours: "Your draft still has its own values for these fields. Applied, it replaces theirs.",
      takeTheirs: "Start again from theirs",
      moved: "These parts of the plan have changed since:",
      next: "Below is the new plan. Apply it, or change the draft.",
    },
    summary: (replicas: number, clusters: string) => `${plural(replicas, "replica")} in ${clusters}.`,
    digest: "Digest",
    refused: "No plan is possible",
    best: (value: string) => `The best reachable availability is ${value}.`,
    paused: "The deployment is paused: a plan cannot be applied before the pause ends.",
    planned: "Planned availability",
    downtime: (time: string) => `${time} of downtime in 30 days`,
    meets: (target: string) => `Meets ${target}`,
    misses: (target: string) => `Misses ${target}`,
    price: "Price",
    perMonth: "per month",
    assumedRequests: "With default requests where none are stated",
    clusters: "Clusters considered",
    chosen: "Selected",
    selected: "Selected",
    notSelected: "Not selected",
    reasons: "Reasons",
    for: "For",
    against: "Against",
    quorum: "Why this number of replicas",
    quorumText: (values: string) =>
      `A majority of the replicas must be up. Clusters are up ${values} of the time; replicas go round them, the worst first.`,
    majority: "Majority",
    changes: (total: number) => (total === 0 ? "Changes: none" : `Changes (${total})`),
    objects: "Kubernetes objects",
    more: (total: number) => `and ${total} more`,
    functions: "Scale of the functions",
    decisions: "Decisions",
    wouldChange: (what: string) => `would change with: ${what}`,
  },
  packages: {
    create: "New package",
    filter: "Filter by name",
    none: "No packages yet",
    noneText: "A package has classes, their functions and their requirements.",
    version: "Version",
    versionOf: (version: string) => `Version ${version}`,
    classes: "Classes",
    tags: "Tags",
    enabled: "Enabled",
    disabled: "Disabled",
    tabs: { content: "Content", edit: "Edit", revisions: "Revisions", dependencies: "Dependencies" },
    deploy: "Plan a deployment",
    delete: "Delete",
    deleteTitle: (name: string) => `Delete the package ${name}?`,
    deleteText: "The package and its revisions are deleted. It is rejected while deployments or other packages use it.",
    cascade: "Also delete its deployments, with everything that runs and is stored",
    deleted: (name: string) => `${name} is deleted`,
    deployed: "Deployed as",
    notDeployed: "Nothing is deployed from this package",
    classTitle: (key: string) => `Class ${key}`,
    bindings: "Methods",
    state: "State",
    stateless: "Stateless",
    type: "Type",
    image: "Image",
    scale: "Scale",
    rollBackText:
      "The content of that revision becomes a new revision. Deployments stay as they are until they are planned again.",
    document: "Package as YAML",
    save: "Save",
    saveRevision: "Save as a new revision",
    saveHint:
      "The server has checked the text with a dry run. Deployments stay as they are until they are planned again.",
    saved: (name: string) => `${name} is saved`,
    unchanged: "No changes",
    checking: "Checking",
    valid: "Valid",
    invalid: (violations: number) => (violations === 0 ? "Not valid" : plural(violations, "violation")),
    yourChanges: "Your changes",
    conflictTitle: "Someone else has saved this package",
    conflictText:
      "Marked is what your text changes in their version. Take theirs, or keep your text and save it as the next revision.",
    conflictDiff: "Your text against theirs",
    takeTheirs: "Take theirs",
    keepMine: "Keep mine",
    noDependencies: "It needs no other package, and none needs it",
    nearest: (packages: string, allPackages: string, dependencies: string, allDependencies: string) =>
      `The nearest ${packages} of ${allPackages} packages, with ${dependencies} of ${allDependencies} dependencies`,
  },
  runtimes: {
    unit: "Unit",
    filter: "Filter by unit",
    ready: "Ready",
    requirements: "Requirements",
    none: "No class runtimes yet",
    noneText: "A class runtime is a class in one cluster. Deployments create them.",
    tabs: {
      functions: "Functions",
      pods: "Pods",
      requirements: "Requirements",
      enforcement: "Enforcement",
      children: "Objects",
      conditions: "Conditions",
      events: "Events",
    },
    in: "in",
    noFunctions: "No functions",
    template: "Template",
    url: "URL",
    since: "Since",
    store: "State store",
    noStore: "None",
    partitions: "Partitions",
    phase: "Phase",
    serving: "Serves",
    drift: "Corrected drift",
    noRequirements: "Nothing is measured",
    noRequirementsText:
      "State a requirement in the deployment, such as an availability or a latency, and its measurement appears here.",
    signals: {
      title: "Signals",
      range: "Range",
      ranges: {
        "15m": "Last 15 minutes",
        "1h": "Last hour",
        "6h": "Last 6 hours",
        "24h": "Last 24 hours",
      } as Readonly<Record<string, string>>,
      note: "Dashed is the target, dotted lines are changes by enforcement.",
      none: "Nothing is measured yet",
      noneText: "Signals appear when the class has pods that are measured.",
      noValue: "not measured",
      targetKinds: { at_least: "At least", at_most: "At most", requested: "Requested" } as Readonly<
        Record<string, string>
      >,
      noHistory: "The history of signals cannot be read: these charts start when this page is opened.",
      outdated: (why: string) => `The charts are not current. ${why}`,
    },
    pods: {
      none: "No pods",
      noneText: "A class that is scaled to zero has none until the next request.",
      ready: "Ready",
      node: "Node",
      restarts: "Restarts",
      age: "Created",
      output: "Output",
      logs: "Logs",
      more: (count: number) => `${plural(count, "more pod is", "more pods are")} not listed.`,
    },
    checked: "Measured",
    wholeClass: "Class",
    observed: "Observed",
    target: "Target",
    budget: "Error budget left",
    burn: "Burn rate",
    recommendations: "Recommendations",
    dimension: "Dimension",
    now: "Now",
    recommended: "Recommended",
    confidence: "Confidence",
    basis: "Basis",
    noEnforcement: "No enforcement",
    noEnforcementText: "Set enforcement in the deployment to let the platform act on missed requirements.",
    conditions: "Conditions",
    condition: "Condition",
    states: "State of each dimension",
    lastAction: "Last action",
    lastSkip: "Why not again",
    decisions: "Decisions with their numbers",
    noDecisions: "No decision yet",
    decided: (component: string, dimension: string, from: number | undefined, to: number | undefined) =>
      `${component}: ${dimension} ${from ?? "?"} → ${to ?? "?"}`,
    noChildren: "No objects are reported",
    kind: "Kind",
    name: "Name",
    yaml: "YAML",
    showYaml: "Show",
    showYamlOf: (kind: string, name: string) => `Show the YAML of ${kind} ${name}`,
    yamlOf: (kind: string, name: string) => `${kind} ${name}`,
    yamlNote: "As it is in the cluster; *** stands for secrets and the content of ConfigMaps.",
    copyYaml: "Copy the YAML",
    command: "Command",
    noConditions: "No conditions are reported",
    history: "What happened",
    noHistory: "No events",
    noHistoryText: "The cluster keeps the events of about an hour.",
    repeated: (reason: string, count: number) => `${reason} (${count} times)`,
  },
  clusters: {
    none: "No clusters are registered",
    noneText: "Register a cluster with oaas cluster add, or in the settings of the package manager.",
    nodesTitle: "Ready nodes",
    nodes: (ready: string, all: string) => `${ready} of ${all} nodes ready`,
    upPart: (value: string) => `up ${value}`,
    availability: "Availability",
    source: "Source",
    version: "Version",
    lastSeen: "Last seen",
    about: "Registration",
    address: "Address",
    labels: "Labels",
    timeout: "Timeout",
    retries: (value: number) => plural(value, "retry", "retries"),
    namespace: "Namespace",
    price: "Price",
    priceOf: (cpu: number, memory: number, currency: string) =>
      `${cpu} ${currency} per CPU hour, ${memory} ${currency} per GiB hour`,
    promised: "Promised",
    measured: "Measured",
    used: "Used in plans",
    kept: "The promise is kept",
    broken: "The promise is broken",
    arithmetic: "Arithmetic",
    promiseSource: "Source of the promise",
    evidence: "Evidence",
    evidenceOf: (samples: number, time: string) => `${samples} samples in ${time}`,
    noMeasurement: "No measurement yet",
    units: "Units and their present usage",
    noUnits: "Nothing runs in this cluster",
    busiest: (components: string) => `The ${components} components that use the most CPU`,
    component: "Component",
    pods: "Pods",
    cpu: "CPU",
    memory: "Memory",
    cordon: "Cordon",
    uncordon: "Uncordon",
    uncordoned: (name: string) => `${name} accepts new units again`,
    cordoned: "Cordoned",
    draining: "Draining",
    cordonedBy: (by: string) => `Cordoned by ${by}`,
    cordonTitle: (name: string) => `Cordon ${name}?`,
    cordonText: "New units are kept out. Existing units stay and keep running.",
    drain: "Drain",
    drainAsk: (name: string) => `Drain ${name}?`,
    drainText: "The cluster is cordoned, and its units are moved to other clusters one by one. Uncordon it to stop.",
    drainTitle: "Drain",
    remaining: (units: number) => `${plural(units, "unit")} left`,
  },
  topology: {
    none: "Nothing is deployed yet",
    noneText: "Packages, classes, functions and clusters appear here.",
    summary: (nodes: string, limit: number | undefined) =>
      limit === undefined ? `${nodes} nodes` : `${nodes} nodes, grouped to at most ${limit}`,
    kinds: (kind: string) => (kind === "environment" ? "Cluster" : words(kind)),
  },
  activity: {
    tabs: { audit: "Audit trail", operations: "Operations", events: "Live events" },
    adminOnly: "Only administrators read the audit trail",
    adminOnlyText: "Operations and live events are in the other tabs.",
    stream: "Events since this page was opened",
    noEvents: "No events yet",
    noEventsText: "Changes of deployments, clusters and packages appear here as they happen.",
    failedOnly: "Failed only",
    target: "Target",
    actor: "Caller",
    action: "Action",
    outcome: "Outcome",
    object: "Filter by object",
  },
  lab: {
    intro: "Break a cluster of the local stack, and watch what the platform does about it.",
    none: "No cluster can be broken",
    injected: (total: number) => `${plural(total, "fault")} injected`,
    restoreAll: "Restore everything",
    restored: "Restored",
    see: "See the deployments",
    inject: (fault: string, cluster: string) => `${fault}: ${cluster}`,
    restore: (fault: string, cluster: string) => `Restore ${cluster}: ${fault}`,
    restoreShort: (cluster: string) => `Restore ${cluster}`,
    done: (fault: string, cluster: string) => `${fault} in ${cluster}`,
    watch: "What happens",
  },
};
