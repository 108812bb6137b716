import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** The function that a user means: its key, its name without the class, or the only one. */
export async function resolveFunction(session: Session, key: string, name: string | undefined): Promise<string> {
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  const known = [
    ...new Set(value.clusters.flatMap(({ functions }) => functions.map((each) => each.function_key))),
  ].toSorted();
  const [only] = known;
  if (name === undefined) {
    if (only !== undefined && known.length === 1) return only;
    throw new UsageError(
      known.length === 0 ? `${key} has no functions yet` : `${key} has several functions: ${known.join(", ")}`,
      known.length === 0 ? `oaas wait ${key}` : `oaas invoke ${key} ${only ?? ""}`,
    );
  }
  const found = known.includes(name) ? [name] : known.filter((each) => each.endsWith(`.${name}`));
  const [match] = found;
  if (match !== undefined && found.length === 1) return match;
  // A status that is not known yet must not hide a function.
  if (known.length === 0) return name;
  const problem = found.length > 1 ? `"${name}" is ambiguous: ${found.join(", ")}` : `${key} has no function "${name}"`;
  throw new UsageError(problem, `use one of ${known.join(", ")}`);
}
