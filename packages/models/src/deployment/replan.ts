/** What the package manager may do when it finds a better plan for a running deployment. */
export const ReplanMode = {
  /** Applies the plan. */
  auto: "auto",
  /** Shows the plan, to be applied by a user. */
  propose: "propose",
  /** Does not look for one. */
  off: "off",
} as const;
export type ReplanMode = (typeof ReplanMode)[keyof typeof ReplanMode];
