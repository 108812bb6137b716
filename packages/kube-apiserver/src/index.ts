/** An embedded Kubernetes API server, for trying out and for fast tests; never for production. See README.md for the tour. */
export type { Api, ApiRequest, ApiResponse } from "./api.ts";
