import type { DeploymentKey } from "@oaas/models";
import type { Deployments, EventFeed, FeedEvent } from "../../use-cases.ts";
import { eventText } from "../event-stream.ts";
import type { Handlers } from "../handler.ts";

/** Streams of what happens. */
export function eventHandlers(
  feed: EventFeed,
  deployments: Pick<Deployments, "get">,
): Handlers<"streamEvents" | "streamDeploymentEvents"> {
  return {
    streamEvents: async ({ query, call, lastEventId }) => ({
      status: 200,
      events: texts(
        feed.follow({
          signal: call.signal,
          ...(query.topic === undefined ? {} : { topic: query.topic }),
          ...(query.key === undefined ? {} : { key: query.key }),
          ...(lastEventId === undefined ? {} : { lastEventId }),
        }),
      ),
    }),
    streamDeploymentEvents: async ({ parameters, call, lastEventId }) => {
      const key = parameters["key"] as DeploymentKey;
      await deployments.get(key);
      return {
        status: 200,
        events: texts(
          feed.follow({
            topic: "deployment",
            key,
            signal: call.signal,
            ...(lastEventId === undefined ? {} : { lastEventId }),
          }),
        ),
      };
    },
  };
}

async function* texts(events: AsyncIterable<FeedEvent>): AsyncGenerator<string> {
  for await (const event of events) yield eventText({ id: event.id, type: event.topic, data: JSON.stringify(event) });
}
