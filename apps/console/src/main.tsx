import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/errors.ts";
import { listenForUnauthorized } from "./api/client.ts";
import { FeedProvider } from "./api/feed-context.tsx";
import { EventFeed } from "./api/stream.ts";
import { App } from "./app.tsx";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { ToastProvider } from "./ui/toast.tsx";
import "./styles.css";

const queries = new QueryClient({
  queryCache: new QueryCache(),
  defaultOptions: {
    queries: {
      // The event stream marks queries as outdated.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) =>
        failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
    },
  },
});
listenForUnauthorized(() => void queries.invalidateQueries({ queryKey: ["session"] }));

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root");
createRoot(root).render(
  <StrictMode>
    <ErrorBoundary>
      <QueryClientProvider client={queries}>
        <FeedProvider feed={new EventFeed(queries)}>
          <ToastProvider>
            <App />
          </ToastProvider>
        </FeedProvider>
      </QueryClientProvider>
    </ErrorBoundary>
  </StrictMode>,
);
