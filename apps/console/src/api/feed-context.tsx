import { createContext, useContext, useSyncExternalStore, type ReactNode } from "react";
import type { FeedEvent } from "./stream.ts";
import type { Connection, EventFeed } from "./stream.ts";

const FeedContext = createContext<EventFeed | undefined>(undefined);

export function FeedProvider({ feed, children }: { readonly feed: EventFeed; readonly children: ReactNode }) {
  return <FeedContext value={feed}>{children}</FeedContext>;
}

export function useFeed(): EventFeed {
  const feed = useContext(FeedContext);
  if (feed === undefined) throw new Error("useFeed needs a FeedProvider");
  return feed;
}

export function useConnection(): Connection {
  const feed = useFeed();
  return useSyncExternalStore(feed.subscribe, feed.connection);
}

/** The newest events of this page's stream. */
export function useEvents(): readonly FeedEvent[] {
  const feed = useFeed();
  return useSyncExternalStore(feed.subscribe, feed.events);
}
