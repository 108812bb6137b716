import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "./colours.ts";

/** Lines about the pause and the freeze windows that keep a deployment from being changed. */
export function holdLines(
  { pause, freezes = [] }: Pick<Reply<"getDeploymentStatus">["value"], "pause" | "freezes">,
  { warn }: Colours,
): string[] {
  const because = (reason: string | undefined): string => (reason === undefined ? "" : `: ${reason}`);
  return [
    ...(pause === undefined ? [] : [`${warn("paused")} by ${pause.by} until ${pause.until}${because(pause.reason)}`]),
    ...freezes.map(
      ({ window, clusters, until, reason }) =>
        `${warn("frozen")} in ${clusters.join(", ")} until ${until} by window ${window}${because(reason)}`,
    ),
  ];
}
