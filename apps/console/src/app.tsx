import { lazy, Suspense, type ComponentType, type LazyExoticComponent } from "react";
import { Redirect, Route, Switch, useLocation, useSearch } from "wouter";
import { useSession } from "./api/session.ts";
import { m } from "./messages/en.ts";
import { Shell } from "./pages/shell/shell.tsx";
import { SignInPage } from "./pages/sign-in/sign-in.tsx";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { Empty, ErrorView, Loading } from "./ui/states.tsx";
import { LinkButton } from "./ui/button.tsx";
import { SearchX } from "lucide-react";

type Page = LazyExoticComponent<ComponentType<{ readonly params: Readonly<Record<string, string>> }>>;

const ROUTES: readonly (readonly [string, Page])[] = [
  ["/", lazy(() => import("./pages/overview/overview.tsx"))],
  ["/deployments", lazy(() => import("./pages/deployments/deployment-list.tsx"))],
  ["/deployments/:key", lazy(() => import("./pages/deployments/deployment.tsx"))],
  ["/plan", lazy(() => import("./pages/plan/plan-page.tsx"))],
  ["/packages", lazy(() => import("./pages/packages/package-list.tsx"))],
  ["/packages/:name", lazy(() => import("./pages/packages/package-page.tsx"))],
  ["/new-package", lazy(() => import("./pages/packages/new-package.tsx"))],
  ["/class-runtimes", lazy(() => import("./pages/runtimes/runtime-list.tsx"))],
  ["/class-runtimes/:id", lazy(() => import("./pages/runtimes/runtime.tsx"))],
  ["/clusters", lazy(() => import("./pages/clusters/cluster-list.tsx"))],
  ["/clusters/:name", lazy(() => import("./pages/clusters/cluster.tsx"))],
  ["/topology", lazy(() => import("./pages/topology/topology.tsx"))],
  ["/activity", lazy(() => import("./pages/activity/activity.tsx"))],
  ["/lab", lazy(() => import("./pages/lab/lab.tsx"))],
];

/** Signs in first when the server asks for it; the address is kept. */
export function App() {
  const session = useSession();
  const [location] = useLocation();
  const search = useSearch();
  if (session.data === undefined)
    return session.isError ? (
      <main className="mx-auto mt-24 max-w-lg">
        <ErrorView error={session.error} retry={() => void session.refetch()} />
      </main>
    ) : (
      <main className="mx-auto mt-24 max-w-sm">
        <Loading rows={3} />
      </main>
    );
  const signedIn = session.data.authenticated || session.data.authentication === "off";
  if (location === "/sign-in") {
    const target = safeReturn(new URLSearchParams(search).get("return_to"));
    return signedIn ? <Redirect to={target} replace /> : <SignInPage session={session.data} returnTo={target} />;
  }
  if (!signedIn)
    return <Redirect to={`/sign-in?return_to=${encodeURIComponent(location + (search && `?${search}`))}`} replace />;
  return (
    <Shell>
      <ErrorBoundary resetKey={location}>
        <Suspense fallback={<Loading rows={6} />}>
          <Switch>
            {ROUTES.map(([path, Component]) => (
              <Route key={path} path={path}>
                {(params) => <Component key={location} params={decoded(params)} />}
              </Route>
            ))}
            <Route>
              <Empty icon={SearchX} title={m.app.noPage} text={location}>
                <LinkButton href="/">{m.nav.overview}</LinkButton>
              </Empty>
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}

/** Only a path of this console: anything else would let a link send a signed-in user elsewhere. */
function safeReturn(target: string | null): string {
  return target !== null && /^\/(?![/\\])/.test(target) ? target : "/";
}

function decoded(params: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value ?? ""]));
}
