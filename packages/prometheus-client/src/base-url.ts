import { ROOT_PATH, type Violation } from "@oaas/foundation";

/** The path of the Prometheus HTTP API below the base URL. */
const API_PATH = "/api/v1";

/** What makes a URL unfit as the base URL of a Prometheus API. */
export function findBaseUrlProblem(text: string): Violation | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const fix = "set for example http://prometheus.monitoring:9090";
    return { path: ROOT_PATH, message: "must be a URL that starts with http:// or https://", fix };
  }
  if (url.username !== "" || url.password !== "") {
    const fix = "remove user and password from the URL and use the settings for basic authentication";
    return { path: ROOT_PATH, message: "contains credentials, which would appear in logs", fix };
  }
  if (url.hash !== "" || /\/(graph|query)\/?$/.test(url.pathname)) {
    const fix = "set the base URL of the server with its path prefix, without the path of a page";
    return { path: ROOT_PATH, message: "is the address of a page of the Prometheus user interface", fix };
  }
  return undefined;
}

/** The URL of an endpoint, such as `query_range`. A base URL may have a path prefix and may end in `/api/v1`. */
export function endpointUrl(base: string, endpoint: string): URL {
  const url = new URL(base);
  let prefix = url.pathname;
  while (prefix.endsWith("/")) prefix = prefix.slice(0, -1);
  url.pathname = `${prefix.endsWith(API_PATH) ? prefix : prefix + API_PATH}/${endpoint}`;
  return url;
}
