import { splitClassKey } from "@oaas/models";
import type { RuntimeQuery, UnitReport } from "../ports.ts";

/**
 * Whether a report is among those asked for. What the place of a class is called is its cluster's to judge, where it can; else its namespace
 * and the cluster's own name count.
 */
export function matchesQuery({ runtime, condition }: UnitReport, query: RuntimeQuery, placeIsJudged = false): boolean {
  const { packageName, classKey, environment } = query;
  return (
    (packageName === undefined || runtime.packageName === packageName) &&
    (classKey === undefined ||
      runtime.classKey === classKey ||
      splitClassKey(runtime.classKey)?.classKey === classKey) &&
    (query.condition === undefined || condition === query.condition) &&
    (environment === undefined ||
      placeIsJudged ||
      runtime.targetEnvironment === environment ||
      runtime.cluster === environment)
  );
}
