import type { Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { View } from "../../output/format.ts";
import { confirm, type Session } from "../../session/session.ts";

type Window = Reply<"listFreezeWindows">["value"][number];

export async function listFreezeWindows(session: Session): Promise<void> {
  const { value } = await session.call("listFreezeWindows");
  session.printList(value, freezeView(session));
}

export interface FreezeFlags {
  readonly cluster?: readonly string[];
  readonly start?: string;
  readonly end?: string;
  readonly schedule?: string;
  /** Milliseconds. */
  readonly duration?: number;
  readonly timeZone?: string;
  readonly reason?: string;
}

/** Creates or replaces a window; the package manager checks which flags belong together. */
export async function setFreezeWindow(
  session: Session,
  { cluster, duration, timeZone, ...times }: FreezeFlags,
  name: string,
): Promise<void> {
  const body = {
    ...times,
    clusters: cluster,
    duration_secs: duration === undefined ? undefined : Math.round(duration / 1000),
    time_zone: timeZone,
  };
  const { value } = await session.call("setFreezeWindow", { parameters: { name }, body });
  session.printOutcome({ kind: "freeze-window", name, result: `set; ${stateOf(value)}` });
}

export async function deleteFreezeWindow(
  session: Session,
  flags: { readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  if (!(await confirm(session, `Delete freeze window ${name}`, flags.yes))) return EXIT.failed;
  await session.call("deleteFreezeWindow", { parameters: { name } });
  session.printOutcome({ kind: "freeze-window", name, result: "deleted" });
  return EXIT.done;
}

function freezeView({ colours }: Session): View<Window> {
  return {
    kind: "freeze-window",
    nameOf: ({ name }) => name,
    columns: [
      { header: "NAME", cell: ({ name }) => name },
      { header: "CLUSTERS", cell: ({ clusters }) => clusters.join(", ") || "all" },
      { header: "WHEN", cell: timesOf },
      { header: "STATE", cell: (window) => (window.active ? colours.warn(stateOf(window)) : stateOf(window)) },
      { header: "REASON", cell: ({ reason }) => reason ?? "-" },
      { header: "BY", isWide: true, cell: ({ by }) => by },
      { header: "SET AT", isWide: true, cell: ({ at }) => at },
    ],
  };
}

function timesOf({ start, end, schedule, duration_secs: seconds = 0, time_zone: zone = "UTC" }: Window): string {
  if (schedule === undefined) return `${start ?? ""} to ${end ?? ""}`;
  return `${schedule} (${zone}), ${Math.round(seconds / 360) / 10} h`;
}

function stateOf({ active, until, next_start: next }: Window): string {
  if (active) return `active until ${until ?? ""}`;
  return next === undefined ? "ended" : `begins ${next}`;
}
