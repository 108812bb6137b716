import { isFault } from "@oaas/foundation";
import { UsageError } from "../exit-code.ts";
import type { Session } from "./session.ts";

/** The key itself if it names a deployment, else the keys of all deployments of a class (`shop.Order`). */
export async function deploymentsOf(session: Session, of: string): Promise<readonly string[]> {
  try {
    const { value } = await session.call("getDeployment", { parameters: { key: of } });
    return [value.key];
  } catch (thrown) {
    const [packageName, classKey] = of.split(/\.(?=[^.]*$)/);
    if (!isFault(thrown, "not-found") || classKey === undefined) throw thrown;
    const found = await session.all("listDeployments", { query: { package_name: packageName, class_key: classKey } });
    if (found.length > 0) return found.map(({ key }) => key);
    throw new UsageError(
      `"${of}" is neither a deployment nor a deployed class`,
      "see oaas deployment list; write a class as package.Class",
    );
  }
}
