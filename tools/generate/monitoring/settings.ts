/** What an installation may want to change before `npm run generate`. */
export const MONITORING = {
  /** Prefix of `runbook_url`: relative to the repository by default; set it to the address of the pages. */
  runbookBase: "docs/runbooks/",
  /** Values of the label `job`, as in the scrape configuration of the guide. */
  jobs: { packageManager: "oaas-pm", classRuntimeManager: "oaas-crm" },
  /** Shares of good requests, and of the time in which the requirements of a class hold, over 30 days, in percent. */
  objectives: { packageManagerRequests: 99.9, packageManagerReads: 99, classRequests: 99, classRequirements: 99 },
  /** A window with fewer requests has no verdict, as in the analyzer. */
  minRequests: 30,
} as const;
