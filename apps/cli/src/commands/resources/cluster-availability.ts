import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "../../output/colours.ts";
import { ageText, percentText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";

type Availability = Reply<"getClusterAvailability">["value"];

/** Shows the promised and the measured availability of a cluster, and how plans combine them. */
export async function clusterAvailability(session: Session, _flags: object, name: string): Promise<void> {
  const { value } = await session.call("getClusterAvailability", { parameters: { name } });
  const view = { kind: "cluster-availability", nameOf: () => value.cluster_name, columns: [] };
  session.printItem(value, view, () => availabilityText(value, session.colours, session.environment.clock.now()));
}

function availabilityText(value: Availability, colours: Colours, now: number): string {
  return [
    `${colours.bold(value.cluster_name)}: plans use ${percentText(value.availability)}`,
    `  promised:   ${promiseText(value)}`,
    `  measured:   ${measurementText(value, now)}`,
    `  promise:    ${keptText(value, colours)}`,
    `  arithmetic: ${value.arithmetic}`,
    "",
  ].join("\n");
}

function promiseText({ promise }: Availability): string {
  if (promise === null) return "none stated in the registration";
  const { value, source, date, weight_hours } = promise;
  return `${percentText(value)} (${source}${date === null ? "" : `, ${date}`}), counts as ${weight_hours} h of observation`;
}

function measurementText({ measurement, estimate }: Availability, now: number): string {
  if (measurement === null) {
    return estimate?.basis === "configured" ? "no, the value is configured for a simulated cluster" : "not reported";
  }
  const { value, api_availability, node_availability, samples, observed_hours, window_hours, since } = measurement;
  const nodes = node_availability === null ? "" : `, nodes ${percentText(node_availability)}`;
  const first = since === null ? "" : `, since ${ageText(since, now)} ago`;
  return (
    `${percentText(value)} (API ${percentText(api_availability)}${nodes}), ${samples} samples in ` +
    `${observed_hours.toFixed(1)} h of a window of ${window_hours} h${first}`
  );
}

function keptText({ promise_kept }: Availability, colours: Colours): string {
  if (promise_kept === null) return "not comparable yet";
  return promise_kept ? colours.good("kept") : colours.warn("missed");
}
