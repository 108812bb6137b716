import { omitUndefined } from "@oaas/contracts/rest";
import type { DeploymentKey } from "@oaas/models";
import type { Deployments, EventFeed } from "../../use-cases.ts";
import type { HandlersOf, HttpReply } from "../handler.ts";
import { eventText } from "../server/event-stream.ts";

/** Handlers of event streams. */
export function eventHandlers(feed: EventFeed, deployments: Pick<Deployments, "get">): HandlersOf<"events"> {
  const stream = (query: Parameters<EventFeed["follow"]>[0]): HttpReply => ({
    status: 200,
    events: texts(feed, query),
  });
  return {
    streamEvents: async ({ query: { topic, key }, call: { signal }, lastEventId }) =>
      stream(omitUndefined({ topic, key, lastEventId, signal })),
    streamDeploymentEvents: async ({ parameters, call: { signal }, lastEventId }) => {
      const key = parameters["key"] as DeploymentKey;
      await deployments.get(key);
      return stream(omitUndefined({ topic: "deployment" as const, key, lastEventId, signal }));
    },
  };
}

async function* texts(feed: EventFeed, query: Parameters<EventFeed["follow"]>[0]): AsyncGenerator<string> {
  for await (const event of feed.follow(query))
    yield eventText({ id: event.id, type: event.topic, data: JSON.stringify(event) });
}
