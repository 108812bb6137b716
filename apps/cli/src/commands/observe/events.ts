import { isFault } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { stateText } from "../../output/colours.ts";
import { customColumnsText } from "../../output/custom-columns.ts";
import { jsonPathText } from "../../output/jsonpath.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { readEventStream } from "../../session/event-stream.ts";
import type { Session } from "../../session/session.ts";

type StreamEvent = Reply<"streamEvents">["value"];

/** Streams events until Ctrl-C or until `--count` events were printed. */
export async function followEvents(
  session: Session,
  flags: { readonly topic?: string; readonly count?: number },
  key?: string,
): Promise<ExitCode> {
  // A class has no events itself; select those of its deployments.
  const only = key?.includes(".") ? new Set(await resolveDeployments(session, key)) : undefined;
  const query = {
    ...(flags.topic === undefined ? {} : { topic: flags.topic }),
    ...(key === undefined || only ? {} : { key }),
  };
  let printed = 0;
  for await (const event of readEventStream<StreamEvent>(session, "/events", query)) {
    if (only && !only.has(event.key)) continue;
    session.print(eventText(event, session));
    printed += 1;
    if (printed === flags.count) break;
  }
  return EXIT.done;
}

/** The key itself if it names a deployment, else the keys of all deployments of a class (`shop.Order`). */
export async function resolveDeployments(session: Session, of: string): Promise<readonly string[]> {
  try {
    const { value } = await session.call("getDeployment", { parameters: { key: of } });
    return [value.key];
  } catch (thrown) {
    const [packageName, classKey] = of.split(/\.(?=[^.]*$)/);
    if (!isFault(thrown, "not-found") || classKey === undefined) throw thrown;
    const found = await session.listAll("listDeployments", {
      query: { package_name: packageName, class_key: classKey },
    });
    if (found.length > 0) return found.map(({ key }) => key);
    throw new UsageError(
      `"${of}" is neither a deployment nor a deployed class`,
      "see oaas deployment list; write a class as package.Class",
    );
  }
}

/** The state and message of the object after the event, if it has any. */
function objectState({ object }: StreamEvent, { colours }: Session): string {
  if (typeof object !== "object" || object === null) return "";
  const { health, condition, outcome, state, status, phase, message } = object as Readonly<Record<string, unknown>>;
  const word = [health, condition, outcome, state, status, phase].find((each) => typeof each === "string");
  const suffix = typeof message === "string" && message !== "" ? `: ${message}` : "";
  return typeof word === "string" ? `  ${stateText(word, colours)}${suffix}` : suffix;
}

function eventText(event: StreamEvent, session: Session): string {
  const { format, colours } = session;
  switch (format.as) {
    case "json":
      return `${JSON.stringify(event)}\n`;
    case "yaml":
      return `---\n${format.write(event)}`;
    case "name":
      return `${event.topic}/${event.key}\n`;
    case "jsonpath":
      return `${jsonPathText(format.template, event)}\n`;
    case "custom-columns":
      return customColumnsText([event], format.columns, false);
    case "table":
    case "wide":
      return `${colours.dim(event.at)}  ${event.topic}/${event.key}  ${event.type}${objectState(event, session)}\n`;
  }
}
