/** One part of the platform, and whether this build has it. */
export interface Part {
  readonly name: string;
  readonly what: string;
  readonly running: boolean;
}

/** What the local stack consists of. A part is listed as running only when this process really runs it. */
export const PARTS: readonly Part[] = [
  {
    name: "Durable store",
    what: "key-value store in one SQLite file, with revisions, watches and leases",
    running: true,
  },
  { name: "REST contract", what: "the OpenAPI 3.1 document that the package manager will serve", running: true },
  { name: "Package manager", what: "registry, plans, deployments over clusters", running: false },
  {
    name: "Class runtime manager",
    what: "one controller per cluster; by itself against any cluster: npm run crm",
    running: false,
  },
  { name: "Simulated clusters", what: "embedded Kubernetes API servers", running: false },
  { name: "Console and command line", what: "the browser's and the terminal's view", running: false },
];
