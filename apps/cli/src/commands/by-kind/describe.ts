import { isFault } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { tableText } from "../../output/table.ts";
import {
  classView,
  deploymentView,
  functionView,
  packageRevisionView,
  runtimeView,
  type TableContext,
} from "../../output/views.ts";
import type { Session } from "../../session/session.ts";
import { listedKind, missingObjects } from "./read-objects.ts";
import { READERS, type ListedKind } from "./readers.ts";
import { parseTargets, type ObjectReference, type Targets } from "../../command/targets.ts";

/** Shows objects with what belongs to them, as `kubectl describe` does; the object itself with `-o json`. */
export async function describe(session: Session, _flags: object, ...args: readonly string[]): Promise<void> {
  const objects = await namedObjects(session, parseTargets(args));
  const missing: ObjectReference[] = [];
  for (const [index, object] of objects.entries()) {
    if (index > 0 && session.isHumanOutput) session.print("\n\n");
    try {
      await describeObject(session, listedKind(object.kind), object.name);
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      missing.push(object);
    }
  }
  if (missing.length > 0) throw await missingObjects(session, missing, { isSuggested: true });
}

async function namedObjects(session: Session, targets: Targets): Promise<readonly ObjectReference[]> {
  if (targets.of === "objects") return targets.objects;
  const lists = targets.kinds.map(listedKind).map(async (kind) => {
    const { nameOf } = READERS[kind].view(tableContext(session));
    return (await READERS[kind].list(session)).map((item) => ({ kind, name: nameOf(item) }));
  });
  return (await Promise.all(lists)).flat();
}

const tableContext = ({ environment, colours }: Session): TableContext => ({ now: environment.clock.now(), colours });

async function describeObject(session: Session, kind: ListedKind, name: string): Promise<void> {
  if (kind === "deployment" && session.isHumanOutput) return describeDeployment(session, name);
  const reader = READERS[kind];
  const item = await reader.get(session, name);
  const parts = session.isHumanOutput ? await partsOf(session, kind, item) : [];
  const { stringify } = await import("yaml");
  session.printItem(item, reader.view(tableContext(session)), () =>
    [stringify(summaryOf(kind, item)), ...parts].join("\n"),
  );
}

/** Status, revisions and, unless it runs, the explanation. */
async function describeDeployment(session: Session, key: string): Promise<void> {
  const { deploymentHistory, deploymentStatus } = await import("../resources/deployments.ts");
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  await deploymentStatus(session, {}, key);
  session.print(`\n${session.colours.bold("Revisions:")}\n`);
  await deploymentHistory(session, {}, key);
  if (value.condition === "Running") return;
  const { explainDeployment } = await import("../observe/explain.ts");
  session.print(`\n${session.colours.bold("Explanation:")}\n`);
  await explainDeployment(session, {}, key);
}

/** The fields of the object; lists that follow as tables are left out. */
function summaryOf(kind: ListedKind, item: unknown): unknown {
  if (kind !== "package") return item;
  const { classes: _classes, functions: _functions, ...summary } = item as Reply<"getPackage">["value"];
  return summary;
}

/** Tables of the objects that belong to an object. */
async function partsOf(session: Session, kind: ListedKind, item: unknown): Promise<readonly string[]> {
  const look = tableContext(session);
  if (kind === "package") {
    const { name, classes, functions } = item as Reply<"getPackage">["value"];
    const [used, revisions] = await Promise.all([
      session.listAll("listDeployments", { query: { package_name: name } }),
      session.listAll("listPackageRevisions", { parameters: { name } }),
    ]);
    return [
      part("Classes", tableText(classes, classView().columns)),
      part("Functions", tableText(functions, functionView().columns)),
      part("Deployments", used.length === 0 ? "none\n" : tableText(used, deploymentView(look).columns)),
      part("Revisions", tableText(revisions, packageRevisionView(look).columns)),
    ];
  }
  if (kind === "cluster") {
    const { name } = item as { readonly name: string };
    const runtimes = await session.listAll("listClassRuntimes", { query: { cluster: name } });
    return [part("Class runtimes", runtimes.length === 0 ? "none\n" : tableText(runtimes, runtimeView(look).columns))];
  }
  return [];
}

function part(title: string, text: string): string {
  return `${title}:\n${text.replaceAll(/^(?=.)/gm, "  ")}`;
}
