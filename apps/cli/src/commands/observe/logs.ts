import type { Reply } from "@oaas/contracts/rest";
import { jsonPathText } from "../../output/jsonpath.ts";
import { readEventStream } from "../../session/event-stream.ts";
import type { Session } from "../../session/session.ts";
import { printClassHistory } from "./class-history.ts";
import { resolveFunction } from "./resolve-function.ts";
import { resolveDeployments } from "./events.ts";

type LogLine = Reply<"streamDeploymentLogs">["value"];

export interface LogFlags {
  readonly function?: string;
  readonly cluster?: string;
  readonly follow: boolean;
  readonly tail?: number;
  /** Milliseconds. */
  readonly since?: number;
  readonly contains?: string;
  readonly timestamps: boolean;
  readonly previous: boolean;
  readonly history: boolean;
}

/** Prints the output of the functions of a deployment, or of all deployments of a class; with `--history` its history. */
export async function logs(session: Session, flags: LogFlags, of: string): Promise<void> {
  const keys = await resolveDeployments(session, of);
  if (flags.history) return printClassHistory(session, flags, keys);
  const hasPrefix = keys.length > 1 || (await hasSeveralPods(session, keys[0] ?? "", flags));
  await Promise.all(keys.map((key) => streamOutput(session, key, flags, hasPrefix)));
}

async function streamOutput(session: Session, key: string, flags: LogFlags, hasPrefix: boolean): Promise<void> {
  const { function: name, cluster, follow, tail, since, previous, contains } = flags;
  const query = {
    ...(name === undefined ? {} : { function: await resolveFunction(session, key, name) }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(follow ? { follow: "true" } : {}),
    ...(previous ? { previous: "true" } : {}),
    ...(contains === undefined ? {} : { contains }),
    ...(tail === undefined ? {} : { tail_lines: String(tail) }),
    ...(since === undefined ? {} : { since_seconds: String(Math.max(1, Math.ceil(since / 1000))) }),
  };
  const path = `/deployments/${encodeURIComponent(key)}/logs`;
  for await (const line of readEventStream<LogLine>(session, path, query)) printLine(session, line, flags, hasPrefix);
}

function printLine(session: Session, line: LogLine, { timestamps }: LogFlags, hasPrefix: boolean): void {
  const { format, colours } = session;
  const { cluster, pod, at, text, notice } = line;
  if (format.as === "json") return session.print(`${JSON.stringify(line)}\n`);
  if (format.as === "yaml") return session.print(`---\n${format.write(line)}`);
  if (format.as === "jsonpath") return session.print(`${jsonPathText(format.template, line)}\n`);
  const source = pod === "" ? cluster : `${cluster}/${pod}`;
  if (notice) return session.printNote(`${colours.warn("warning:")} ${source}: ${text}\n`);
  const prefix = hasPrefix ? `${colours.dim(source)}  ` : "";
  session.print(`${prefix}${timestamps ? `${colours.dim(at)}  ` : ""}${text}\n`);
}

/** Whether the output comes from several pods, so that each line names its own. */
async function hasSeveralPods(session: Session, key: string, flags: LogFlags): Promise<boolean> {
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  const clusters = value.clusters.filter(({ cluster }) => flags.cluster === undefined || cluster === flags.cluster);
  const pods = clusters.flatMap(({ functions }) =>
    functions
      .filter((each) => flags.function === undefined || each.function_key.endsWith(flags.function))
      .map((each) => ("replicas" in each && typeof each.replicas === "number" ? each.replicas : 1)),
  );
  return flags.follow || clusters.length > 1 || pods.reduce((sum, count) => sum + count, 0) > 1;
}
